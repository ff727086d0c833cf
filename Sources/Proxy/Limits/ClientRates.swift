internal import Dictionaries

/// The buckets of the clients that asked last, shared by all loops.
///
/// Bounded: of more clients than it has places for, those that have not asked for longest are forgotten, whose buckets are
/// mostly full again. In parts with a lock each, so that loops seldom meet.
final class ClientRates: Sendable {
    /// One part: the clients of now, and those of before, who come over when they ask again.
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

    /// Places for so many clients.
    init(clientsMax: Int = 262_144) {
        parts = (0..<Self.partCount).map { _ in Guarded(Part()) }
        partMax = max(1, clientsMax / Self.partCount / 2)
    }

    /// Takes one request of a client; the nanoseconds until it may ask again, where it may not now.
    func take(_ client: UInt128, _ bucket: RateLimit.Bucket, now: Int64) -> Int64? {
        let part = parts[Int(UInt(bitPattern: client.hashValue) % UInt(Self.partCount))]
        return part.withLock { $0.take(client, bucket, now: now, countMax: partMax) }
    }

    /// How many clients are remembered.
    var count: Int {
        parts.reduce(0) { sum, part in sum + part.withLock { $0.recent.count + $0.former.count } }
    }
}
