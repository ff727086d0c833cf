package import HTTP

/// What gives the addresses of a name: the system's resolver, or another in its place.
package struct NameResolver: Sendable {
    /// The addresses of a host, best first; empty when it has none.
    ///
    /// May block.
    let addresses: @Sendable (_ host: String, _ port: UInt16) -> [Endpoint]

    /// A resolver of one's own.
    package init(_ addresses: @escaping @Sendable (_ host: String, _ port: UInt16) -> [Endpoint]) {
        self.addresses = addresses
    }

    /// The system's: `/etc/hosts`, DNS, and whatever else it is told to ask.
    package static let system = NameResolver { Endpoint.resolve(host: $0, port: $1) }
}
