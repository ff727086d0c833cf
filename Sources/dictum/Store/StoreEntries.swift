internal import Dictionaries
internal import Storage

struct ChainEntry: Encodable {
    let authority: String
    let match: String
    let matchDest: [String]
    /// `public`, or `unlisted` if clients must send the id back.
    let scope: String
    let versions: Int
    let bytes: Int
    let lastWanted: String
    /// The number of versions that a configured route would create; nil without a configuration.
    let current: Int?

    static let title = ["AUTHORITY", "MATCH", "VERSIONS", "SIZE", "LAST WANTED", "USED"]

    /// Summarizes the versions of one chain; there is at least one.
    init(_ versions: ArraySlice<Version>, isCurrent: ((Version) -> Bool)?) {
        let key = versions[versions.startIndex].chainKey
        authority = key.authority
        scope = key.scope == .unlisted ? "unlisted" : "public"
        match = key.match
        matchDest = key.matchDest
        self.versions = versions.count
        bytes = versions.reduce(0) { $0 + $1.bytes }
        lastWanted = OutputFormat.time(versions.map(\.lastWanted).max() ?? 0)
        current = isCurrent.map { isCurrent in versions.count(where: isCurrent) }
    }

    var cells: [String] {
        let destinations = matchDest.isEmpty ? "" : " (\(matchDest.joined(separator: " ")))"
        let used = current.map { $0 == versions ? "yes" : $0 == 0 ? "no" : "\($0)" } ?? "?"
        return [
            authority, match + destinations, String(versions), OutputFormat.size(bytes), lastWanted, used,
        ]
    }
}

extension [Version] {
    /// The versions of each chain; those of one chain must follow each other.
    var byChain: [ArraySlice<Version>] {
        var chains: [ArraySlice<Version>] = []
        var rest = self[...]
        while let first = rest.first {
            let chain = rest.prefix { $0.chainKey == first.chainKey }
            chains.append(chain)
            rest = rest[chain.endIndex...]
        }
        return chains
    }
}

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
    let maxAgeSeconds: Int
    let upstreamMatch: Bool
    /// True if a configured route would create it; nil without a configuration.
    let current: Bool?

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
        admitted = OutputFormat.time(version.admittedAt)
        lastWanted = OutputFormat.time(version.lastWanted)
        maxAgeSeconds = version.maxAge
        upstreamMatch = version.isUpstreamMatch
        current = isCurrent.map { $0(version) }
    }

    private var used: String { current.map { $0 ? "yes" : "no" } ?? "?" }

    var cells: [String] {
        [
            String(sha256.prefix(16)), authority, url, OutputFormat.size(bytes), admitted, lastWanted, used,
        ]
    }

    var lines: String {
        let facts: [(String, String)] = [
            ("digest", sha256), ("base64", ":\(base64):"), ("authority", authority),
            ("match", match + (upstreamMatch ? " (named by the upstream)" : "")),
            ("match-dest", matchDest.joined(separator: " ")), ("url", url), ("variant", variant),
            ("etag", etag ?? ""), ("type", type ?? ""), ("size", "\(bytes)"), ("admitted", admitted),
            ("last wanted", lastWanted), ("max age", "\(maxAgeSeconds) s"), ("used", used),
        ]
        return OutputFormat.table(facts.filter { !$0.1.isEmpty }.map { ["\($0.0):", $0.1] })
    }
}
