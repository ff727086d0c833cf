/// The routes that may be for each host.
///
/// A look-up costs a hash per label of the host, however many routes there are.
final class HostIndex: Sendable {
    struct Members: Sendable {
        private var words: [UInt64]

        init(count: Int) { words = Array(repeating: 0, count: (count + 63) / 64) }

        mutating func insert(_ place: Int) { words[place >> 6] |= 1 << UInt64(place & 63) }

        mutating func formUnion(_ other: Members) {
            for index in words.indices { words[index] |= other.words[index] }
        }

        func contains(_ place: Int) -> Bool { words[place >> 6] >> UInt64(place & 63) & 1 == 1 }
    }

    /// The routes by host name, and by pattern for hosts that are in no narrower one.
    private let members: [String: Members]
    private let others: Members

    /// Returns nil if no route names a host.
    init?(_ routes: [HostPatterns?]) {
        let none = Members(count: routes.count)
        var others = none
        var own: [String: Members] = [:]
        for (place, hosts) in routes.enumerated() {
            if hosts == nil { others.insert(place) }
            for name in hosts?.patterns ?? [] { own[name, default: none].insert(place) }
        }
        guard !own.isEmpty else { return nil }
        self.others = others
        members = Dictionary(
            uniqueKeysWithValues: own.map { name, members in
                var all = members
                all.formUnion(others)
                for domain in Self.domains(above: name) { all.formUnion(own[domain] ?? none) }
                return (name, all)
            })
    }

    /// Returns the patterns that a host may be below, the longest domain first, whose members include those of the others.
    private static func domains(above host: String) -> some Sequence<String> {
        host.utf8.indices.lazy.filter { $0 > host.startIndex && host.utf8[$0] == UInt8(ascii: ".") }
            .map { "*" + host[$0...] }
    }

    /// Returns the routes that may be for an authority; requests without one have no host.
    func routes(for authority: String?) -> Members {
        guard let authority else { return others }
        let host = HostPatterns.host(of: authority)
        // No pattern is longer, and each label costs a look-up.
        guard host.utf8.count <= HostPatterns.bytesMax else { return others }
        if let exact = members[host] { return exact }
        for domain in Self.domains(above: host) {
            if let below = members[domain] { return below }
        }
        return others
    }
}
