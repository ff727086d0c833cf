internal import COpenSSL
internal import Primitives

/// One set of keys for session tickets (RFC 5077 section 4).
struct TLSTicketKey: Equatable, Sendable {
    static let nameBytes = 16
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

    /// Removes keys whose tickets have expired, even if no new key was needed meanwhile.
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
        let now = SystemClock.monotonicNanoseconds / 1_000_000
        return ring.withLock { $0.current(now: now, fresh: TLSTicketKey.random) }
    }

    func find(_ name: [UInt8]) -> (key: TLSTicketKey, isCurrent: Bool)? {
        let now = SystemClock.monotonicNanoseconds / 1_000_000
        return ring.withLock { $0.find(name, now: now) }
    }

    // MARK: The calls of OpenSSL

    /// Makes the context protect its tickets with these keys.
    ///
    /// The owner of both must keep the keys longer than the context.
    func serve(_ context: OpaquePointer) {
        // Safe: the owner of the context holds this object while a connection of it lives.
        unsafe dictum_ssl_set_app_data(context, Unmanaged.passUnretained(self).toOpaque())
        unsafe SSL_CTX_set_tlsext_ticket_key_evp_cb(context) {
            connection, name, vector, cipher, code, isMaking in
            guard let context = unsafe SSL_get_SSL_CTX(connection),
                let data = unsafe dictum_ssl_app_data(context),
                let name = unsafe name, let vector = unsafe vector, let cipher = unsafe cipher,
                let code = unsafe code
            else { return -1 }
            let keys = unsafe Unmanaged<TLSTicketKeys>.fromOpaque(data).takeUnretainedValue()
            return unsafe isMaking == 1
                ? keys.make(name, vector, cipher, code) : keys.open(name, vector, cipher, code)
        }
    }

    /// Sets the keys for a new ticket, by SSL_CTX_set_tlsext_ticket_key_evp_cb(3): 1 for success, -1 for a
    /// failure.
    private func make(
        _ name: UnsafeMutablePointer<UInt8>, _ vector: UnsafeMutablePointer<UInt8>, _ cipher: OpaquePointer,
        _ code: OpaquePointer
    ) -> Int32 {
        guard let key = current() else { return -1 }
        // Safe: OpenSSL gives 16 bytes for the name and EVP_MAX_IV_LENGTH for the vector; AES uses 16.
        unsafe name.update(from: key.name, count: TLSTicketKey.nameBytes)
        guard unsafe RAND_bytes(vector, 16) == 1,
            unsafe EVP_EncryptInit_ex2(cipher, EVP_aes_256_cbc(), key.cipher, vector, nil) == 1,
            unsafe Self.setCode(code, key)
        else { return -1 }
        return 1
    }

    /// Sets the keys of a received ticket: 0 for an unknown ticket, 1 to accept it, 2 to accept and replace it.
    private func open(
        _ name: UnsafeMutablePointer<UInt8>, _ vector: UnsafeMutablePointer<UInt8>, _ cipher: OpaquePointer,
        _ code: OpaquePointer
    ) -> Int32 {
        // Safe: OpenSSL gives 16 bytes of name.
        let asked = unsafe Array(UnsafeBufferPointer(start: name, count: TLSTicketKey.nameBytes))
        guard let (key, isCurrent) = find(asked) else { return 0 }
        guard unsafe EVP_DecryptInit_ex2(cipher, EVP_aes_256_cbc(), key.cipher, vector, nil) == 1,
            unsafe Self.setCode(code, key)
        else { return -1 }
        return isCurrent ? 1 : 2
    }

    private static func setCode(_ context: OpaquePointer, _ key: TLSTicketKey) -> Bool {
        var bytes = key.code
        // Safe: the key is only read, during the call, and outlives it.
        return unsafe bytes.withUnsafeMutableBytes { bytes in
            let parameters = unsafe [
                dictum_param_mac_key(bytes.baseAddress, bytes.count), dictum_param_mac_sha256(),
                OSSL_PARAM_construct_end(),
            ]
            return unsafe EVP_MAC_CTX_set_params(context, parameters) == 1
        }
    }
}
