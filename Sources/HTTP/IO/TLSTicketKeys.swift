internal import COpenSSL

/// One set of keys that session tickets are protected with (RFC 5077 section 4).
struct TLSTicketKey: Equatable, Sendable {
    static let nameBytes = 16
    /// By which a ticket says which keys it was made with.
    let name: [UInt8]
    /// For AES-256-CBC.
    let cipher: [UInt8]
    /// For HMAC-SHA256.
    let code: [UInt8]
    /// Since when it is used, in milliseconds of the monotonic clock.
    let began: Int64

    /// A key of random bytes; nil where the system has none.
    static func random(now: Int64) -> TLSTicketKey? {
        var bytes = [UInt8](repeating: 0, count: nameBytes + 64)
        // Safe: the callee writes as many bytes as the array holds.
        guard unsafe RAND_priv_bytes(&bytes, Int32(bytes.count)) == 1 else { return nil }
        return TLSTicketKey(
            name: Array(bytes[..<16]), cipher: Array(bytes[16..<48]), code: Array(bytes[48...]), began: now)
    }
}

/// The keys in use: one that makes tickets and those before it that still open theirs.
///
/// Pure, so that a test can let the years pass.
struct TLSTicketKeyRing: Sendable {
    /// Former keys that still open tickets.
    static let formerMax = 2

    let periodMilliseconds: Int64
    private(set) var keys: [TLSTicketKey] = []

    init(periodMilliseconds: Int64) {
        self.periodMilliseconds = periodMilliseconds
    }

    /// The key that makes tickets now; a new one where the last has served its time.
    mutating func current(now: Int64, fresh: (Int64) -> TLSTicketKey?) -> TLSTicketKey? {
        drop(now: now)
        if let first = keys.first, now - first.began < periodMilliseconds { return first }
        guard let key = fresh(now) else { return nil }
        keys.insert(key, at: 0)
        drop(now: now)
        return key
    }

    /// The key that opens a ticket, and whether it still makes them.
    mutating func find(_ name: [UInt8], now: Int64) -> (key: TLSTicketKey, isCurrent: Bool)? {
        drop(now: now)
        guard let index = keys.firstIndex(where: { $0.name == name }) else { return nil }
        return (keys[index], index == 0 && now - keys[index].began < periodMilliseconds)
    }

    /// Forgets keys whose tickets are of no use any more, also where nobody asked for a new one meanwhile.
    private mutating func drop(now: Int64) {
        let life = periodMilliseconds * Int64(1 + Self.formerMax)
        keys.removeAll { now - $0.began >= life }
        if keys.count > 1 + Self.formerMax { keys.removeLast(keys.count - 1 - Self.formerMax) }
    }
}

/// The keys of all session tickets of this process, in memory only: shared by every loop and listener, and kept over a
/// reload.
///
/// Safe from any thread.
package final class TLSTicketKeys: Sendable {
    /// For how long a key makes tickets; it opens them for twice as long again.
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
