internal import COpenSSL

/// AES-256-GCM: bytes that only the holder of the key opens, and only with the associated bytes of the sealing.
///
/// Sealed bytes are a random nonce of 96 bits, the ciphertext, and a tag of 128 bits (NIST SP 800-38D).
enum SealedBytes {
    private static let nonceBytes = 12
    private static let tagBytes = 16
    static let overheadBytes = nonceBytes + tagBytes

    /// The algorithm, looked up once.
    ///
    /// Safe: read-only and counted by OpenSSL's own atomic references; never freed.
    private nonisolated(unsafe) static let algorithm = unsafe EVP_CIPHER_fetch(nil, "AES-256-GCM", nil)

    /// Seals bytes under a key of 32 bytes; `associated` must be given again to open them.
    static func seal(
        _ plain: [UInt8], key: [UInt8], associated: [UInt8]
    ) throws(CryptographyError) -> [UInt8] {
        let nonce = try RandomBytes.make(nonceBytes)
        var tag = [UInt8](repeating: 0, count: tagBytes)
        guard
            let text = run(
                plain[...], key: key, nonce: nonce, associated: associated, encrypts: true, tag: &tag)
        else { throw CryptographyError(operation: "seal") }
        return nonce + text + tag
    }

    /// Returns the bytes that were sealed; nil if the key, the associated bytes or a single bit differ from the
    /// sealing.
    static func open(_ sealed: [UInt8], key: [UInt8], associated: [UInt8]) -> [UInt8]? {
        guard sealed.count >= overheadBytes else { return nil }
        var tag = Array(sealed.suffix(tagBytes))
        return run(
            sealed[nonceBytes..<sealed.count - tagBytes], key: key, nonce: Array(sealed.prefix(nonceBytes)),
            associated: associated, encrypts: false, tag: &tag)
    }

    /// Runs one message through the cipher; makes the tag or, if it decrypts, checks it before it returns anything.
    private static func run(
        _ input: ArraySlice<UInt8>, key: [UInt8], nonce: [UInt8], associated: [UInt8], encrypts: Bool,
        tag: inout [UInt8]
    ) -> [UInt8]? {
        guard key.count == 32, let inputCount = Int32(exactly: input.count),
            let associatedCount = Int32(exactly: associated.count)
        else { return nil }
        let context = unsafe EVP_CIPHER_CTX_new()
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        guard unsafe context != nil,
            // By default, the nonce of GCM has 12 bytes.
            unsafe EVP_CipherInit_ex2(context, algorithm, key, nonce, encrypts ? 1 : 0, nil) == 1
        else { return nil }
        var count: Int32 = 0
        guard unsafe EVP_CipherUpdate(context, nil, &count, associated, associatedCount) == 1 else {
            return nil
        }
        var isDone = false
        // Safe: GCM writes as many bytes as it reads, into a buffer of that size; input and output are different
        // arrays.
        let output = unsafe [UInt8](unsafeUninitializedCapacity: max(1, input.count)) { output, written in
            isDone = unsafe input.withUnsafeBufferPointer { input in
                guard inputCount > 0 else { return true }
                return unsafe EVP_CipherUpdate(
                    context, output.baseAddress, &count, input.baseAddress, inputCount) == 1
            }
            written = isDone ? input.count : 0
        }
        guard isDone else { return nil }
        // Safe: the tag has the 16 bytes that are read or written; the final call of GCM writes nothing.
        let tagCount = Int32(tagBytes)
        if !encrypts {
            guard unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, tagCount, &tag) == 1 else {
                return nil
            }
        }
        var rest = [UInt8](repeating: 0, count: 16)
        guard unsafe EVP_CipherFinal_ex(context, &rest, &count) == 1 else { return nil }
        if encrypts {
            guard unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, tagCount, &tag) == 1 else {
                return nil
            }
        }
        return output
    }
}

/// The seal of one place: what it seals opens there only.
///
/// Each place has a key of its own, so that random nonces never collide, however many places there are.
struct Seal {
    private let key: [UInt8]
    private let place: [UInt8]

    /// Derives the key of a place.
    init(_ keys: MessageAuthenticator, _ place: LengthPrefixed) {
        self.place = place.bytes
        key = keys.code(of: place.bytes)
    }

    func seal(_ plain: [UInt8]) throws(CryptographyError) -> [UInt8] {
        try SealedBytes.seal(plain, key: key, associated: place)
    }

    /// Opens sealed bytes; nil if they were sealed with another key, changed, or moved from another place.
    func open(_ sealed: [UInt8]) -> [UInt8]? { SealedBytes.open(sealed, key: key, associated: place) }
}

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

/// A failure of OpenSSL to seal or to draw random bytes: it is broken, or the system has no entropy.
struct CryptographyError: Error, CustomStringConvertible {
    let operation: String

    var description: String { "OpenSSL failed to \(operation)" }
}
