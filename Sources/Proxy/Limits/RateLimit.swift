internal import HTTP
internal import Primitives

/// The rate limit per client, and the rule that tells clients apart.
struct RateLimit: Sendable {
    /// The shape of a client's bucket.
    struct Bucket: Equatable, Sendable {
        /// The nanoseconds per token.
        let interval: Int64
        /// The capacity.
        let burst: Int64
    }

    let bucket: Bucket
    /// The field that identifies clients, or nil for their addresses.
    let field: HeaderName?
    /// The length of the IPv6 prefix that identifies a client.
    let ipv6Prefix: Int

    /// Returns nil if nothing is limited.
    init?(_ settings: Configuration.ClientLimits) {
        guard let rate = settings.rate else { return nil }
        // Within the bounds of the settings, an hour per token and a million tokens do not overflow.
        bucket = Bucket(interval: rate.interval, burst: Int64(settings.burst ?? rate.countPerSecond))
        if case .header(let name) = settings.by { field = HeaderName(name) } else { field = nil }
        ipv6Prefix = settings.ipv6Prefix
    }

    /// Returns a number that identifies the client, or nil if no limit applies.
    ///
    /// Without the field the address counts. A trusted peer that names no client is not limited.
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
