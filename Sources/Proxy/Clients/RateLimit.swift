internal import HTTP
internal import Primitives

/// A rate limit per client, and the rule that tells clients apart.
///
/// A class, so that requests without a limit only see that there is none.
final class RateLimit: Sendable {
    /// The shape of a client's bucket.
    struct Bucket: Equatable, Sendable {
        /// The nanoseconds per token.
        let interval: Int64
        let burst: Int64
    }

    let bucket: Bucket
    /// The field that identifies clients, or nil for their addresses.
    let field: HeaderName?
    /// The length of the IPv6 prefix that identifies a client.
    let ipv6Prefix: Int
    /// Tells the buckets of one limit from those of the others.
    private let salt: UInt128

    /// Returns nil if nothing is limited.
    init?(_ settings: Configuration.ClientLimits) {
        guard let rate = settings.rate else { return nil }
        bucket = Bucket(rate, burst: settings.burst)
        salt = 0
        if case .header(let name) = settings.by { field = HeaderName(name) } else { field = nil }
        ipv6Prefix = settings.ipv6Prefix
    }

    /// Creates the limit of a route, by address; nil if nothing is limited.
    init?(_ settings: RouteConfiguration.Limits, of route: String, ipv6Prefix: Int) {
        guard let rate = settings.rate else { return nil }
        bucket = Bucket(rate, burst: settings.burst)
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

extension RateLimit.Bucket {
    init(_ rate: Configuration.Rate, burst: Int?) {
        // Within the bounds of the settings, an hour per token and a million tokens do not overflow.
        self.init(interval: rate.interval, burst: Int64(burst ?? rate.countPerSecond))
    }
}

/// A client's token bucket, stored as one number.
///
/// The generic cell rate algorithm (ITU-T I.371): it stores the time at which the bucket will be full again, so that
/// no timer has to fill it.
struct TokenBucket: Equatable, Sendable {
    private var fullAt: Int64 = .min

    /// Takes a token; returns the nanoseconds until the next token if the bucket is empty.
    mutating func take(_ limit: RateLimit.Bucket, now: Int64) -> Int64? {
        let next = max(fullAt, now) + limit.interval
        let wait = next - now - limit.interval * limit.burst
        guard wait <= 0 else { return wait }
        fullAt = next
        return nil
    }

    func isFull(at now: Int64) -> Bool { fullAt <= now }
}

/// The token buckets of recent clients, shared by all loops and all limits.
///
/// The number of clients is bounded. Clients that were idle longest are forgotten first, since their buckets are
/// mostly full again. The table has parts with a lock each, so that loops seldom contend.
final class ClientRates: Sendable {
    /// A part with two generations: a client moves to the recent one when it sends a request.
    private struct Part: Sendable {
        var recent: [UInt128: TokenBucket] = [:]
        var former: [UInt128: TokenBucket] = [:]

        mutating func take(_ client: UInt128, _ bucket: RateLimit.Bucket, now: Int64, countMax: Int) -> Int64?
        {
            if recent[client] == nil {
                if recent.count >= countMax { (former, recent) = (recent, [:]) }
                recent[client] = former.removeValue(forKey: client) ?? TokenBucket()
            }
            return recent[client, default: TokenBucket()].take(bucket, now: now)
        }
    }

    private static let partCount = 16
    private let parts: [Guarded<Part>]
    private let partMax: Int

    /// Creates a table for at most `clientsMax` clients.
    init(clientsMax: Int = 262_144) {
        parts = (0..<Self.partCount).map { _ in Guarded(Part()) }
        partMax = max(1, clientsMax / Self.partCount / 2)
    }

    /// Counts a request of a client; returns the nanoseconds to wait if the client is over its rate.
    func take(_ client: UInt128, _ bucket: RateLimit.Bucket, now: Int64) -> Int64? {
        let part = parts[Int(UInt(bitPattern: client.hashValue) % UInt(Self.partCount))]
        return part.withLock { $0.take(client, bucket, now: now, countMax: partMax) }
    }

    var count: Int {
        parts.reduce(0) { sum, part in sum + part.withLock { $0.recent.count + $0.former.count } }
    }
}
