/// The listening sockets that this process was started with, and which addresses they are for.
package struct InheritedSockets: Sendable {
    /// A socket, and the name that whoever started the process gave it.
    package struct Member: Sendable {
        let name: String
        let socket: ListeningSocket

        package init(name: String, socket: ListeningSocket) {
            self.name = name
            self.socket = socket
        }

        /// The socket as an error text names it.
        package var text: String { name.isEmpty ? socket.endpoint.text : "\(socket.endpoint.text) (\(name))" }
    }

    /// None.
    package static let none = InheritedSockets([], mayBeLeftOver: true)

    private let members: [Member]
    /// Whether sockets that no listener takes are closed without a word: a process that hands over to its successor
    /// cannot know what that one is configured for.
    package let mayBeLeftOver: Bool

    package init(_ members: [Member], mayBeLeftOver: Bool) {
        self.members = members
        self.mayBeLeftOver = mayBeLeftOver
    }

    /// The sockets for each of the addresses, and what is left.
    package func claimed(by wanted: [Endpoint]) -> (sockets: [[ListeningSocket]], rest: [Member]) {
        let places = Self.claims(of: wanted, on: members.map(\.socket.endpoint))
        let taken = Set(places.joined())
        return (
            places.map { $0.map { members[$0].socket } },
            members.indices.filter { !taken.contains($0) }.map { members[$0] }
        )
    }

    /// Which of the offered addresses each of the wanted gets, by their places.
    ///
    /// An address gets those that are the same; one that leaves the port to the system gets those of the first port of its
    /// host that nobody names.
    static func claims(of wanted: [Endpoint], on offered: [Endpoint]) -> [[Int]] {
        var free = offered.indices.map { $0 }
        var claims = wanted.map { _ in [Int]() }
        func take(_ place: Int, _ endpoint: Endpoint) {
            claims[place] = free.filter { offered[$0] == endpoint }
            free.removeAll { offered[$0] == endpoint }
        }
        for (place, endpoint) in wanted.enumerated() { take(place, endpoint) }
        for (place, endpoint) in wanted.enumerated() {
            guard case .ip(let address, port: 0) = endpoint else { continue }
            let first = free.first { if case .ip(address, _) = offered[$0] { true } else { false } }
            if let first { take(place, offered[first]) }
        }
        return claims
    }
}

extension [ListeningSocket] {
    /// The sockets that each of `count` loops serves: every one is somebody's, and everybody has at least one.
    package func shares(_ count: Int) -> [[ListeningSocket]] {
        guard !isEmpty else { return [] }
        return (0..<count).map { loop in
            self.count <= loop
                ? [self[loop % self.count]] : stride(from: loop, to: self.count, by: count).map { self[$0] }
        }
    }
}
