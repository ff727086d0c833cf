/// The listening sockets that this process was started with.
package struct InheritedSockets: Sendable {
    /// A socket with the name that the starting process gave it.
    package struct Member: Sendable {
        let name: String
        let socket: ListeningSocket

        package init(name: String, socket: ListeningSocket) {
            self.name = name
            self.socket = socket
        }

        package var endpoint: Endpoint { socket.endpoint }

        package var text: String { name.isEmpty ? socket.endpoint.text : "\(socket.endpoint.text) (\(name))" }
    }

    package static let none = InheritedSockets([], mayBeLeftOver: true)

    private let members: [Member]
    /// True if sockets without a listener are closed silently.
    ///
    /// A process that hands over to its successor does not know the successor's configuration.
    package let mayBeLeftOver: Bool

    package init(_ members: [Member], mayBeLeftOver: Bool) {
        self.members = members
        self.mayBeLeftOver = mayBeLeftOver
    }

    package func claimed(by wanted: [Endpoint]) -> (sockets: [[ListeningSocket]], rest: [Member]) {
        let claims = Self.claims(of: wanted, on: members.map(\.socket.endpoint))
        let taken = Set(claims.joined())
        return (
            claims.map { $0.map { members[$0].socket } },
            members.indices.filter { !taken.contains($0) }.map { members[$0] }
        )
    }

    /// Returns for each wanted address the indices of its offered sockets.
    ///
    /// An address gets all equal ones. An address with port 0 gets those of the first unclaimed port on its
    /// host.
    static func claims(of wanted: [Endpoint], on offered: [Endpoint]) -> [[Int]] {
        var free = offered.indices.map { $0 }
        var claims = wanted.map { _ in [Int]() }
        func take(_ index: Int, _ endpoint: Endpoint) {
            claims[index] = free.filter { offered[$0] == endpoint }
            free.removeAll { offered[$0] == endpoint }
        }
        for (index, endpoint) in wanted.enumerated() { take(index, endpoint) }
        for (index, endpoint) in wanted.enumerated() {
            guard case .ip(let address, port: 0) = endpoint else { continue }
            let first = free.first { if case .ip(address, _) = offered[$0] { true } else { false } }
            if let first { take(index, offered[first]) }
        }
        return claims
    }
}

extension [ListeningSocket] {
    /// Returns the sockets for each of `count` loops; every socket is used, and every loop has at least one.
    package func shares(_ count: Int) -> [[ListeningSocket]] {
        guard !isEmpty else { return [] }
        let shares = (0..<count).map { loop in
            self.count <= loop
                ? [self[loop % self.count]] : stride(from: loop, to: self.count, by: count).map { self[$0] }
        }
        for socket in self where shares.count(where: { $0.contains { $0 === socket } }) > 1 { socket.share() }
        return shares
    }
}
