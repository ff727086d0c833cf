internal import HTTP

/// A client as proofs and counts tell it from others: an IPv4 address, or the /64 of an IPv6 address.
struct LinkClient: Sendable, Equatable {
    /// Nil if a trusted peer forwards for somebody that it does not name.
    let address: UInt128?
    /// Whether a trusted peer has named it, and it is not the peer itself, which may be a balancer.
    let isNamed: Bool

    init(address: UInt128?, isNamed: Bool) {
        (self.address, self.isNamed) = (address, isNamed)
    }
}

extension ClientPeer {
    /// The client of a request on this connection.
    ///
    /// Several proxies of the operator's that name no client are not several clients. Only a peer on this machine that forwards
    /// for nobody is taken for a client of its own.
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
