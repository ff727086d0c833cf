/// A client's record of a dictionary: its origin, its pattern and its lifetime (RFC 9842 section 2.1).
package struct CachedDictionary: Codable, Equatable, Sendable {
    /// The version of the record format; records of other versions are not read.
    package static let currentFormat = 1

    package var format = Self.currentFormat
    package let url: String
    /// The URL Pattern of the URLs it is for, relative to `url`.
    package let match: String
    /// The app's name for the requests it is for; nil for requests without one.
    package let operation: String?
    /// The request destinations it is for; empty for all.
    package let matchDest: [String]
    /// The value that is sent back as Dictionary-ID; empty for none.
    package let id: String
    /// The SHA-256 of the bytes in hexadecimal.
    package let digest: String
    package let bytes: Int
    /// The validator for a request after it has expired.
    package let etag: String?
    /// Milliseconds since 1970; the newest of equal candidates wins.
    package let storedAt: Int64
    /// The last lifetime that a response gave, for a 304 that gives none.
    package let usableSeconds: Int64
    /// The end of its lifetime, in seconds since 1970.
    package let expiresAt: Int64
    /// The `ttl` of its offer, for a 304 that repeats no offer.
    package let ttl: Int?

    package init(
        url: String, match: String, matchDest: [String], id: String, digest: String, bytes: Int,
        etag: String?,
        storedAt: Int64, usableSeconds: Int64, expiresAt: Int64, operation: String? = nil, ttl: Int? = nil
    ) {
        (self.operation, self.ttl) = (operation, ttl)
        (self.url, self.match, self.matchDest, self.id) = (url, match, matchDest, id)
        (self.digest, self.bytes, self.etag, self.storedAt) = (digest, bytes, etag, storedAt)
        (self.usableSeconds, self.expiresAt) = (usableSeconds, expiresAt)
    }

    /// Returns true if it may be advertised at `now`, in seconds since 1970.
    package func isUsable(at now: Int64) -> Bool { now < expiresAt }

    /// True if it was stale when it was stored: a request may ask whether it is current, and not name it before a 304.
    package var cameStale: Bool { !isUsable(at: storedAt / 1000) }

    /// Returns true if it is for a URL: same origin, and the pattern matches (RFC 9842 section 2.2.2).
    ///
    /// Returns false if the budget runs out.
    package func isFor(_ target: TargetURI, within budget: inout MatchBudget) -> Bool {
        guard url.hasPrefix(target.origin + "/") else { return false }
        let path = url.dropFirst(target.origin.count).prefix { $0 != "?" }
        guard let pattern = try? URLPattern(match, basePath: String(path), origin: target.origin) else {
            return false
        }
        return pattern.matches(path: target.path, query: target.query, within: &budget)
    }

    /// Returns true if it is for requests of a destination (RFC 9842 section 2.1.2).
    package func isFor(destination: String) -> Bool {
        matchDest.isEmpty || matchDest.contains(destination)
    }

    /// The identity of a dictionary: a newer one with the same key replaces it.
    ///
    /// It has the pattern as an absolute one, since a relative pattern has another meaning under each URL.
    package var key: String {
        // Scheme, nothing, host and port, path.
        let parts = url.prefix { $0 != "?" }.split(
            separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        let origin = parts.prefix(3).joined(separator: "/")
        let path = "/" + parts.dropFirst(3).joined()
        let names = [origin, URLPattern.absolute(match, basePath: path, origin: origin) ?? match] + matchDest
        // No destination has a line feed.
        return (names + (operation.map { ["", $0] } ?? [])).joined(separator: "\n")
    }

    /// Returns the dictionaries for a URL and an operation, best first: those for the destination, then those with the
    /// longest match, then the newest (RFC 9842 section 2.2.3).
    package static func ranked(
        _ all: [CachedDictionary], for target: TargetURI, operation: String? = nil, destination: String,
        at now: Int64
    ) -> [CachedDictionary] {
        // Servers choose the patterns and, by redirects, the URL.
        var budget = MatchBudget()
        return all.filter {
            $0.operation == operation && $0.isUsable(at: now) && $0.isFor(destination: destination)
                && $0.isFor(target, within: &budget)
        }
        .sorted { one, other in
            if one.matchDest.isEmpty != other.matchDest.isEmpty { return !one.matchDest.isEmpty }
            return (one.match.utf8.count, one.storedAt) > (other.match.utf8.count, other.storedAt)
        }
    }

    /// The request fields that advertise it (RFC 9842 sections 2.2 and 2.3): the id is sent exactly if there is one.
    package var advertisement: [(name: String, value: String)] {
        guard let digest = Digest(hex: digest) else { return [] }
        let id = id.isEmpty ? [] : [(name: "dictionary-id", value: DictionaryID.serialized(id))]
        return [(name: "available-dictionary", value: AvailableDictionary.serialized(digest))] + id
    }
}
