internal import Dictionaries
internal import Primitives

/// The token buckets of recent clients, shared by all loops.
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

    /// The number of remembered clients.
    var count: Int {
        parts.reduce(0) { sum, part in sum + part.withLock { $0.recent.count + $0.former.count } }
    }
}
