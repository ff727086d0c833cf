internal import COpenSSL

/// One set of keys for session tickets (RFC 5077 section 4).
struct TLSTicketKey: Equatable, Sendable {
    static let nameBytes = 16
    /// The name of the keys in a ticket.
    let name: [UInt8]
    /// The key for AES-256-CBC.
    let cipher: [UInt8]
    /// The key for HMAC-SHA256.
    let code: [UInt8]
    /// The start of its use in milliseconds of the monotonic clock.
    let began: Int64

    /// Makes random keys; nil if the system has no randomness.
    static func random(now: Int64) -> TLSTicketKey? {
        var bytes = [UInt8](repeating: 0, count: nameBytes + 64)
        // Safe: the callee writes as many bytes as the array holds.
        guard unsafe RAND_priv_bytes(&bytes, Int32(bytes.count)) == 1 else { return nil }
        return TLSTicketKey(
            name: Array(bytes[..<16]), cipher: Array(bytes[16..<48]), code: Array(bytes[48...]), began: now)
    }
}

/// The key that makes tickets, and the former ones that still open theirs.
///
/// Pure, so that a test can let years pass.
struct TLSTicketKeyRing: Sendable {
    /// The number of former keys that still open tickets.
    static let formerMax = 2

    let periodMilliseconds: Int64
    private(set) var keys: [TLSTicketKey] = []

    init(periodMilliseconds: Int64) {
        self.periodMilliseconds = periodMilliseconds
    }

    /// Returns the key for new tickets; makes one if the last has served its time.
    mutating func current(now: Int64, fresh: (Int64) -> TLSTicketKey?) -> TLSTicketKey? {
        drop(now: now)
        if let first = keys.first, now - first.began < periodMilliseconds { return first }
        guard let key = fresh(now) else { return nil }
        keys.insert(key, at: 0)
        drop(now: now)
        return key
    }

    /// Returns the key of a ticket, and whether it still makes tickets.
    mutating func find(_ name: [UInt8], now: Int64) -> (key: TLSTicketKey, isCurrent: Bool)? {
        drop(now: now)
        guard let index = keys.firstIndex(where: { $0.name == name }) else { return nil }
        return (keys[index], index == 0 && now - keys[index].began < periodMilliseconds)
    }

    /// Removes keys whose tickets have expired, even if nobody asked for a new key meanwhile.
    private mutating func drop(now: Int64) {
        let life = periodMilliseconds * Int64(1 + Self.formerMax)
        keys.removeAll { now - $0.began >= life }
        if keys.count > 1 + Self.formerMax { keys.removeLast(keys.count - 1 - Self.formerMax) }
    }
}

/// The keys of all session tickets of this process, in memory only.
///
/// Every loop and listener shares them, also across reloads. Safe from any thread.
package final class TLSTicketKeys: Sendable {
    /// The time during which a key makes tickets; it opens them for twice as long again.
    static let periodMilliseconds: Int64 = 12 * 3_600_000

    private let ring: Guarded<TLSTicketKeyRing>

    package init() {
        ring = Guarded(TLSTicketKeyRing(periodMilliseconds: Self.periodMilliseconds))
    }

    func current() -> TLSTicketKey? {
        let now = Clock.monotonicNanoseconds / 1_000_000
        return ring.withLock { $0.current(now: now, fresh: TLSTicketKey.random) }
    }

    func find(_ name: [UInt8]) -> (key: TLSTicketKey, isCurrent: Bool)? {
        let now = Clock.monotonicNanoseconds / 1_000_000
        return ring.withLock { $0.find(name, now: now) }
    }
}
