internal import Dictionaries

/// A client's record of a dictionary: its origin, its pattern and its lifetime (RFC 9842 section 2.1).
struct CachedDictionary: Codable, Equatable, Sendable {
    /// The version of the record format; records of other versions are not read.
    static let currentFormat = 1

    var format = Self.currentFormat
    let url: String
    /// The URL Pattern of the URLs it is for, relative to `url`.
    let match: String
    let matchDest: [String]
    /// The value that is sent back as Dictionary-ID; empty for none.
    let id: String
    /// The SHA-256 of the bytes in hexadecimal, which is also the name of their file.
    let digest: String
    let bytes: Int
    /// The validator for a request after it has expired.
    let etag: String?
    /// Milliseconds since 1970; the newest of equal candidates wins.
    let storedAt: Int64
    /// The last lifetime that a response gave, for a 304 that gives none.
    let usableSeconds: Int64
    /// The end of its lifetime, in seconds since 1970.
    let expiresAt: Int64

    /// Returns true if it may be advertised at `now`, in seconds since 1970.
    func isUsable(at now: Int64) -> Bool { now < expiresAt }

    /// Returns true if it is for a URL: same origin, and the pattern matches (RFC 9842 section 2.2.2).
    ///
    /// match-dest is ignored, since fetch has no destinations. Returns false if the budget runs out.
    func isFor(_ url: FetchURL, within budget: inout MatchBudget) -> Bool {
        guard let own = try? FetchURL(self.url), own.origin == url.origin,
            let pattern = try? URLPattern(match, basePath: own.path, origin: own.origin)
        else { return false }
        return pattern.matches(path: url.path, query: url.query, within: &budget)
    }

    /// The file name of the record; a newer dictionary with the same directory, match and match-dest replaces it.
    var fileName: String {
        let directory =
            url.prefix { $0 != "?" }.utf8.lastIndex(of: UInt8(ascii: "/")).map { url[..<$0] } ?? ""
        let key = ([String(directory), match] + matchDest).joined(separator: "\n")
        return Digest(of: Array(key.utf8).span).base64URL + Self.fileExtension
    }

    /// The extension of records, unusual so that foreign files in the folder are left alone.
    static let fileExtension = ".dictum.json"

    /// Returns the dictionaries for a URL, longest match first, then newest (RFC 9842 section 2.2.3).
    static func ranked(_ all: [CachedDictionary], for url: FetchURL, at now: Int64) -> [CachedDictionary] {
        // Servers choose the patterns and, by redirects, the URL.
        var budget = MatchBudget()
        return all.filter { $0.isUsable(at: now) && $0.isFor(url, within: &budget) }
            .sorted { ($0.match.utf8.count, $0.storedAt) > ($1.match.utf8.count, $1.storedAt) }
    }
}
