internal import HTTP

/// A client's identity for proofs and counts: its IPv4 address, or the /64 of its IPv6 address.
struct LinkClient: Sendable, Equatable {
    /// The address, or nil if a trusted peer forwards for an unnamed client.
    let address: UInt128?
    /// True if a trusted peer has named the client; false for a peer that may be a balancer.
    let isNamed: Bool

    init(address: UInt128?, isNamed: Bool) {
        (self.address, self.isNamed) = (address, isNamed)
    }
}

extension ClientPeer {
    /// Returns the client of a request on this connection.
    ///
    /// Several proxies of the operator that name no client do not count as several clients. Among trusted peers only a
    /// local one without forwarding fields counts as a client.
    func linkClient(_ headers: borrowing Headers) -> LinkClient {
        let bits = { (address: IPAddress) in address.clientBits(ipv6Prefix: 64) }
        guard isTrusted else { return LinkClient(address: address.map(bits), isNamed: false) }
        if let named = limitedAddress(headers) {
            return LinkClient(address: bits(named), isNamed: true)
        }
        guard let address, address.isLoopback else { return LinkClient(address: nil, isNamed: false) }
        return LinkClient(address: bits(address), isNamed: false)
    }
}
