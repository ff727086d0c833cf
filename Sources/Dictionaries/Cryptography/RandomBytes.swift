internal import COpenSSL

/// Random bytes for keys and nonces.
enum RandomBytes {
    /// Returns random bytes from OpenSSL's generator, which the system seeds.
    static func make(_ count: Int) throws(CryptographyError) -> [UInt8] {
        var isDrawn = false
        // Safe: the library writes `count` bytes into a buffer of that size, or fails, and then they are not used.
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            isDrawn = unsafe RAND_bytes(buffer.baseAddress, Int32(clamping: count)) == 1
            initialized = isDrawn ? count : 0
        }
        guard isDrawn else { throw CryptographyError(operation: "draw random bytes") }
        return bytes
    }
}
