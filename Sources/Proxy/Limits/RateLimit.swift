internal import HTTP

/// How many requests each client may send, and who is one client.
struct RateLimit: Sendable {
    /// The shape of a client's bucket.
    struct Bucket: Equatable, Sendable {
        /// The nanoseconds in which a token comes.
        let interval: Int64
        /// How many tokens there are at most.
        let burst: Int64
    }

    let bucket: Bucket
    /// The field that tells clients apart; nil: their addresses do.
    let field: HeaderName?
    /// How many bits of an IPv6 address are one client.
    let ipv6Prefix: Int

    /// Nil where nothing is limited.
    init?(_ settings: Configuration.ClientLimits) {
        guard let rate = settings.rate else { return nil }
        // Within the bounds of the settings an hour of tokens, a million times, is far from the end of the type.
        bucket = Bucket(interval: rate.interval, burst: Int64(settings.burst ?? rate.countPerSecond))
        if case .header(let name) = settings.by { field = HeaderName(name) } else { field = nil }
        ipv6Prefix = settings.ipv6Prefix
    }

    /// Who asks, as a number; nil for whom no limit holds.
    ///
    /// Without the field it is the address. A trusted peer that names no client speaks for itself, and is not limited.
    func client(_ headers: borrowing Headers, _ peer: ClientPeer) -> UInt128? {
        if let field, headers.contains(field) {
            var hasher = Hasher()
            headers.forEachValue(of: field) { value in
                for index in value.indices { hasher.combine(value[index]) }
                hasher.combine(0x100)
            }
            return UInt128(UInt64(bitPattern: Int64(hasher.finalize()))) << 64 | 1
        }
        return peer.limitedAddress(headers)?.clientBits(ipv6Prefix: ipv6Prefix)
    }
}
