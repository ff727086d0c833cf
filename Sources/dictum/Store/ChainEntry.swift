internal import Dictionaries

/// A chain in a list.
struct ChainEntry: Encodable {
    let authority: String
    let match: String
    let matchDest: [String]
    /// `public`, or `unlisted` if clients must send the id back.
    let scope: String
    let versions: Int
    /// The total size of the bodies.
    let bytes: Int
    let lastWanted: String
    /// The number of versions that a configured route would create; nil without a configuration.
    let current: Int?

    enum CodingKeys: String, CodingKey {
        case authority, match, scope, versions, bytes, current
        case matchDest = "match_dest"
        case lastWanted = "last_wanted"
    }

    static let title = ["AUTHORITY", "MATCH", "VERSIONS", "SIZE", "LAST WANTED", "USED"]

    /// Summarizes the versions of one chain; there is at least one.
    init(_ versions: some Collection<Version>, _ key: ChainKey, isCurrent: ((Version) -> Bool)?) {
        authority = key.authority
        scope = key.scope == .unlisted ? "unlisted" : "public"
        match = key.match
        matchDest = key.matchDest
        self.versions = versions.count
        bytes = versions.reduce(0) { $0 + $1.bytes }
        lastWanted = StoreText.time(versions.map(\.lastWanted).max() ?? 0)
        current = isCurrent.map { isCurrent in versions.count(where: isCurrent) }
    }

    var cells: [String] {
        let destinations = matchDest.isEmpty ? "" : " (\(matchDest.joined(separator: " ")))"
        let used = current.map { $0 == versions ? "yes" : $0 == 0 ? "no" : "\($0)" } ?? "?"
        return [authority, match + destinations, String(versions), StoreText.size(bytes), lastWanted, used]
    }

    /// Returns one entry per chain; the versions are grouped by chain.
    static func entries(_ versions: [Version], isCurrent: ((Version) -> Bool)?) -> [ChainEntry] {
        var entries: [ChainEntry] = []
        var rest = versions[...]
        while let first = rest.first {
            let chain = rest.prefix { $0.chainKey == first.chainKey }
            entries.append(ChainEntry(chain, first.chainKey, isCurrent: isCurrent))
            rest = rest.dropFirst(chain.count)
        }
        return entries
    }
}
