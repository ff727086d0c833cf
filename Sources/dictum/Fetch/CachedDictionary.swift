internal import Dictionaries
internal import Foundation

/// What a client keeps of a dictionary beside its bytes: when it may be used, and for what (RFC 9842 section 2.1).
struct CachedDictionary: Codable, Equatable, Sendable {
    /// The number of this form of record; others are not read.
    static let currentFormat = 1

    /// The form of this record.
    var format = Self.currentFormat
    /// The URL that it came from.
    let url: String
    /// The URL Pattern it is for, relative to `url`.
    let match: String
    let matchDest: [String]
    /// What goes back as Dictionary-ID; empty for none.
    let id: String
    /// The SHA-256 of the bytes in hexadecimal; the name of their file.
    let digest: String
    let bytes: Int
    /// The validator to ask with once it has expired.
    let etag: String?
    /// Milliseconds since 1970; of equals the newest counts.
    let storedAt: Int64
    /// How long an answer lives of which nothing else is said: what the last one with a lifetime said.
    let usableSeconds: Int64
    /// Seconds since 1970, from when on it is no longer advertised.
    let expiresAt: Int64

    enum CodingKeys: String, CodingKey {
        case format, url, match, id, digest, bytes, etag
        case matchDest = "match_dest"
        case storedAt = "stored_at"
        case usableSeconds = "usable_seconds"
        case expiresAt = "expires_at"
    }

    /// Whether it may be advertised at this time, in seconds since 1970.
    func isUsable(at now: Int64) -> Bool { now < expiresAt }

    /// Whether it is for that URL: of the same origin, and its pattern matches (RFC 9842 section 2.2.2).
    ///
    /// match-dest is ignored: fetch has no destinations to tell apart. False where the budget ends.
    func isFor(_ url: FetchURL, within budget: inout MatchBudget) -> Bool {
        guard let own = try? FetchURL(self.url), own.origin == url.origin,
            let pattern = try? URLPattern(match, basePath: own.path, origin: own.origin)
        else { return false }
        return pattern.matches(path: url.path, query: url.query, within: &budget)
    }

    /// The name of the record's file: the newer replaces the older of the same place, match and match-dest.
    var fileName: String {
        let directory =
            url.prefix { $0 != "?" }.utf8.lastIndex(of: UInt8(ascii: "/")).map { url[..<$0] } ?? ""
        let key = ([String(directory), match] + matchDest).joined(separator: "\n")
        return Digest(of: Array(key.utf8).span).base64URL + Self.fileExtension
    }

    /// What the names of records end in: distinct, since the folder may hold what is not ours to touch.
    static let fileExtension = ".dictum.json"

    /// The best of those for a URL: the longest match, then the newest (RFC 9842 section 2.2.3).
    static func ranked(_ all: [CachedDictionary], for url: FetchURL, at now: Int64) -> [CachedDictionary] {
        // Servers choose the patterns, and by redirects the URL.
        var budget = MatchBudget()
        return all.filter { $0.isUsable(at: now) && $0.isFor(url, within: &budget) }
            .sorted { ($0.match.utf8.count, $0.storedAt) > ($1.match.utf8.count, $1.storedAt) }
    }
}
