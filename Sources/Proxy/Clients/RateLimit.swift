internal import HTTP
internal import Primitives

/// A rate limit per client, and the rule that tells clients apart.
///
/// A class, so that requests without a limit only see that there is none.
final class RateLimit: Sendable {
    let bucket: TokenBucket.Shape
    /// The field that identifies clients, or nil for their addresses.
    let field: HeaderName?
    /// The length of the IPv6 prefix that identifies a client.
    let ipv6Prefix: Int
    /// Tells the buckets of one limit from those of the others.
    private let salt: UInt128

    init?(_ settings: Configuration.ClientLimits) {
        guard let rate = settings.rate else { return nil }
        bucket = TokenBucket.Shape(rate, burst: settings.burst)
        salt = 0
        if case .header(let name) = settings.by { field = HeaderName(name) } else { field = nil }
        ipv6Prefix = settings.ipv6Prefix
    }

    /// Creates the limit of a route, by address; nil if nothing is limited.
    init?(_ settings: RouteConfiguration.Limits, of route: String, ipv6Prefix: Int) {
        guard let rate = settings.rate else { return nil }
        bucket = TokenBucket.Shape(rate, burst: settings.burst)
        field = nil
        self.ipv6Prefix = ipv6Prefix
        // The hash has a seed per process, so that no client can choose an address that shares another's bucket.
        salt = UInt128(Self.hash(route, 0)) << 64 | UInt128(Self.hash(route, 1))
    }

    private static func hash(_ text: String, _ number: Int) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(text)
        hasher.combine(number)
        return UInt64(bitPattern: Int64(hasher.finalize()))
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
        return peer.clientAddressForLimits(headers).map { $0.clientBits(ipv6Prefix: ipv6Prefix) ^ salt }
    }
}

extension TokenBucket.Shape {
    fileprivate init(_ rate: Configuration.Rate, burst: Int?) {
        // Within the bounds of the settings, an hour per token and a million tokens do not overflow.
        self.init(interval: Double(rate.interval), burst: Double(burst ?? rate.countPerSecond))
    }
}

/// The token buckets of recent clients, shared by all loops and all limits.
///
/// Clients that were idle longest are forgotten first, since their buckets are mostly full again. The table has parts
/// with a lock each, so that loops seldom contend.
final class ClientRates: Sendable {
    private static let partCount = 16
    private let parts: [Guarded<FadingTable<UInt128, TokenBucket>>]

    init(clientsMax: Int = 262_144) {
        parts = (0..<Self.partCount).map { _ in Guarded(FadingTable(countMax: clientsMax / Self.partCount)) }
    }

    /// Counts a request of a client; returns the nanoseconds to wait if the client is over its rate.
    func take(_ client: UInt128, _ bucket: TokenBucket.Shape, now: Int64) -> Int64? {
        let part = parts[Int(UInt(bitPattern: client.hashValue) % UInt(Self.partCount))]
        return part.withLock { $0.update(client, default: TokenBucket()) { $0.take(at: bucket, now: now) } }
    }

    var count: Int {
        parts.reduce(0) { sum, part in sum + part.withLock { $0.count } }
    }
}
