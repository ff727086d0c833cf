package import HTTP

/// Resolves host names; replaceable for tests.
package struct NameResolver: Sendable {
    /// Returns the addresses of a host, best first.
    ///
    /// May block.
    let addresses: @Sendable (_ host: String, _ port: UInt16) -> [Endpoint]

    /// Creates a resolver.
    package init(_ addresses: @escaping @Sendable (_ host: String, _ port: UInt16) -> [Endpoint]) {
        self.addresses = addresses
    }

    /// The system's resolver: `/etc/hosts`, DNS, and its other sources.
    package static let system = NameResolver { Endpoint.resolve(host: $0, port: $1) }
}
