/// A table of bounded size in which one client cannot evict much of what others have added.
///
/// The address of the client that adds an entry picks the entry's bucket. A full bucket drops its oldest entry. A
/// flood of invented keys from one address therefore costs the entries of one bucket, and the next client that needs
/// a lost entry adds it again. Every operation is O(1).
struct FairTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Bucket {
        var keys: [Key] = []
        var next = 0
    }

    private let slotCount: Int
    private var values: [Key: Value] = [:]
    private var buckets: [Bucket]

    init(buckets bucketCount: Int, slots slotCount: Int) {
        self.slotCount = slotCount
        buckets = Array(repeating: Bucket(), count: bucketCount)
    }

    subscript(key: Key) -> Value? { values[key] }

    var all: [Key: Value] { values }

    /// Changes the value of a key in place; adds `fresh` on behalf of `client` if the key is missing.
    mutating func change<Result>(
        _ key: Key, openedBy client: UInt128, fresh: @autoclosure () -> Value,
        _ change: (inout Value) -> Result
    ) -> Result {
        if let result = changeIfPresent(key, change) { return result }
        var value = fresh()
        let result = change(&value)
        insert(value, key, openedBy: client)
        return result
    }

    mutating func changeIfPresent<Result>(_ key: Key, _ change: (inout Value) -> Result) -> Result? {
        guard let index = values.index(forKey: key) else { return nil }
        return change(&values.values[index])
    }

    private mutating func insert(_ value: Value, _ key: Key, openedBy client: UInt128) {
        // Swift seeds its hashes per process, so that clients cannot choose addresses by bucket.
        let bucket = Int(UInt(bitPattern: client.hashValue) % UInt(buckets.count))
        values[key] = value
        guard buckets[bucket].keys.count >= slotCount else { return buckets[bucket].keys.append(key) }
        let slot = buckets[bucket].next
        values[buckets[bucket].keys[slot]] = nil
        buckets[bucket].keys[slot] = key
        buckets[bucket].next = (slot + 1) % slotCount
    }
}

/// A count of distinct clients: exact for the first few, then an estimate from one bit per hashed address (linear counting).
struct ClientSketch: Sendable {
    private static let bitCount = 256

    /// The hashes of the first clients, because a few of them decide, and two may share a bit.
    private var first: InlineArray<4, Int> = [0, 0, 0, 0]
    private var firstCount = 0
    private var bits: InlineArray<4, UInt64> = [0, 0, 0, 0]

    /// The number of clients, within about a tenth up to a thousand; about 1,570 at most.
    var count: Int { max(firstCount, Self.estimates[setBits]) }

    /// The expected number of clients for each number of set bits, as a collector of coupons finds it.
    private static let estimates: [Int] = {
        var (sums, sum) = ([0], 0.0)
        for set in 0..<bitCount {
            sum += Double(bitCount) / Double(bitCount - set)
            sums.append(Int(sum.rounded()))
        }
        return sums
    }()

    private var setBits: Int { (0..<4).reduce(0) { $0 + bits[$1].nonzeroBitCount } }

    mutating func insert(_ client: UInt128) {
        // Swift seeds its hashes per process, so that clients cannot choose addresses by bit.
        let hash = client.hashValue
        let bit = Int(UInt(bitPattern: hash) % UInt(Self.bitCount))
        bits[bit / 64] |= 1 << UInt64(bit % 64)
        guard firstCount < first.count, !(0..<firstCount).contains(where: { first[$0] == hash }) else {
            return
        }
        first[firstCount] = hash
        firstCount += 1
    }
}

/// How often each of the last distinct clients has counted.
struct RecentClients: Sendable {
    private static let countMax = 64

    private var clients: [(hash: UInt32, count: UInt8)] = []
    private var next = 0

    /// Counts a client; returns false if it has counted so often already.
    mutating func count(_ client: UInt128, atMost max: Int) -> Bool {
        let hash = UInt32(truncatingIfNeeded: client.hashValue)
        if let place = clients.firstIndex(where: { $0.hash == hash }) {
            guard clients[place].count < max else { return false }
            clients[place].count += 1
        } else if clients.count < Self.countMax {
            clients.append((hash, 1))
        } else {
            clients[next] = (hash, 1)
            next = (next + 1) % Self.countMax
        }
        return true
    }
}
