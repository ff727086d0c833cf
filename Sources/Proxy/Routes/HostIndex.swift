/// The routes that may be for each host.
///
/// A look-up costs a hash per label of the host, however many routes there are.
final class HostIndex: Sendable {
    struct Members: Sendable {
        private var words: [UInt64]

        init(count: Int, where isMember: (Int) -> Bool) {
            words = Array(repeating: 0, count: (count + 63) / 64)
            for place in 0..<count where isMember(place) { words[place >> 6] |= 1 << UInt64(place & 63) }
        }

        func contains(_ place: Int) -> Bool { words[place >> 6] >> UInt64(place & 63) & 1 == 1 }
    }

    /// The routes by host name, and by pattern for hosts that are in no narrower one.
    private let members: [String: Members]
    private let others: Members

    /// Returns nil if no route names a host.
    init?(_ routes: [HostPatterns?]) {
        let names = Set(routes.compactMap(\.?.patterns).joined())
        guard !names.isEmpty else { return nil }
        others = Members(count: routes.count) { routes[$0] == nil }
        var members: [String: Members] = [:]
        for name in names {
            let one = HostPatterns([name])
            members[name] = Members(count: routes.count) { routes[$0]?.covers(one) ?? true }
        }
        self.members = members
    }

    /// Returns the routes that may be for an authority; requests without one have no host.
    func routes(for authority: String?) -> Members {
        guard let authority else { return others }
        let host = HostPatterns.host(of: authority)
        // No pattern is longer, and each label costs a look-up.
        guard host.utf8.count <= HostPatterns.bytesMax else { return others }
        if let exact = members[host] { return exact }
        // The longest domain first: its patterns are below all shorter ones.
        var rest = host[...]
        while let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) {
            if dot > host.startIndex, let below = members["*" + rest[dot...]] { return below }
            rest = rest[rest.utf8.index(after: dot)...]
        }
        return others
    }
}
