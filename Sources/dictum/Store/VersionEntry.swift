internal import Dictionaries

/// A version in a list or on its own.
struct VersionEntry: Encodable {
    let sha256: String
    let base64: String
    let authority: String
    let match: String
    let matchDest: [String]
    let url: String
    let variant: String
    let etag: String?
    let type: String?
    let bytes: Int
    let admitted: String
    let lastWanted: String
    /// The seconds after which it goes, counted from when it was last wanted.
    let maxAge: Int
    /// True if the upstream named the chain.
    let upstreamMatch: Bool
    /// True if a configured route would create it; nil without a configuration.
    let current: Bool?

    enum CodingKeys: String, CodingKey {
        case sha256, base64, authority, match, url, variant, etag, type, bytes, admitted, current
        case matchDest = "match_dest"
        case lastWanted = "last_wanted"
        case maxAge = "max_age_seconds"
        case upstreamMatch = "upstream_match"
    }

    static let title = ["DIGEST", "AUTHORITY", "URL", "SIZE", "ADMITTED", "LAST WANTED", "USED"]

    init(_ version: Version, isCurrent: ((Version) -> Bool)?) {
        sha256 = version.digest.hex
        base64 = version.digest.base64
        authority = version.chainKey.authority
        match = version.chainKey.match
        matchDest = version.chainKey.matchDest
        url = version.url
        variant = version.variant
        etag = version.etag
        type = version.contentType
        bytes = version.bytes
        admitted = StoreText.time(version.admittedAt)
        lastWanted = StoreText.time(version.lastWanted)
        maxAge = version.maxAge
        upstreamMatch = version.isUpstreamMatch
        current = isCurrent.map { $0(version) }
    }

    private var used: String { current.map { $0 ? "yes" : "no" } ?? "?" }

    var cells: [String] {
        [
            String(sha256.prefix(16)), authority, url, StoreText.size(bytes), admitted, lastWanted, used,
        ]
    }

    /// The facts about it, one per line.
    var lines: String {
        let facts: [(String, String)] = [
            ("digest", sha256), ("base64", ":\(base64):"), ("authority", authority),
            ("match", match + (upstreamMatch ? " (named by the upstream)" : "")),
            ("match-dest", matchDest.joined(separator: " ")), ("url", url), ("variant", variant),
            ("etag", etag ?? ""), ("type", type ?? ""), ("size", "\(bytes)"), ("admitted", admitted),
            ("last wanted", lastWanted), ("max age", "\(maxAge) s"), ("used", used),
        ]
        return StoreText.table(facts.filter { !$0.1.isEmpty }.map { ["\($0.0):", $0.1] })
    }
}
