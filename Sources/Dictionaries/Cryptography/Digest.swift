internal import COpenSSL
internal import Primitives

/// The SHA-256 of a body, which names a dictionary (RFC 9842 section 2.2).
package struct Digest: Hashable, Sendable {
    package static let byteCount = 32

    // Big-endian words, inline, so that a digest as a key of tables needs no allocation of its own.
    private let word0: UInt64
    private let word1: UInt64
    private let word2: UInt64
    private let word3: UInt64

    /// Hashes `bytes`; O(count).
    package init(of bytes: Span<UInt8>) {
        var builder = DigestBuilder()
        builder.append(bytes)
        self = builder.finish()
    }

    /// Takes the bytes of a digest; nil unless there are exactly 32.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.init(words: { index in bytes[index * 8..<index * 8 + 8].reduce(0) { $0 << 8 | UInt64($1) } })
    }

    /// Reads a digest in base64url without padding; nil unless it is exactly that.
    package init?(base64URL text: String) {
        guard let bytes = Base64.decodeURL(text) else { return nil }
        self.init(bytes: bytes)
    }

    /// Reads 64 lower-case hexadecimal digits; nil unless it is exactly that.
    package init?(hex text: String) {
        let digits = Array(text.utf8)
        guard digits.count == 2 * Self.byteCount else { return nil }
        let bytes = stride(from: 0, to: digits.count, by: 2).compactMap { index in
            UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16)
        }
        self.init(bytes: bytes)
        guard hex == text else { return nil }
    }

    package init(words word: (Int) -> UInt64) {
        (word0, word1, word2, word3) = (word(0), word(1), word(2), word(3))
    }

    /// Hashes eight of the bytes, which are as good as random; equality compares all of them.
    package func hash(into hasher: inout Hasher) { hasher.combine(word0) }

    /// Hashes all bytes, for tables of digests that somebody may have made up.
    package func hashAll(into hasher: inout Hasher) {
        for word in [word0, word1, word2, word3] { hasher.combine(word) }
    }

    /// Eight of the bytes: a shorter key for tables that compare the whole later.
    package var part: UInt64 { word0 }

    /// The 32 bytes in the order of the wire.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount)
        for word in [word0, word1, word2, word3] {
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
            }
        }
        return bytes
    }

    /// The 64 lower-case hexadecimal digits.
    package var hex: String {
        let digits = Array("0123456789abcdef".utf8)
        let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }

    /// The 44 characters of a Byte Sequence, without its colons (RFC 9651 section 3.3.5).
    package var base64: String { Base64.encode(bytes) }

    /// The 43 characters of base64url without padding, for paths.
    package var base64URL: String { Base64.encodeURL(bytes) }
}

extension Digest: CustomStringConvertible {
    package var description: String { hex }
}

/// A SHA-256 over bytes that arrive piece by piece.
@safe package struct DigestBuilder: ~Copyable {
    // Owned: made in `init`, freed in `deinit`, never handed out.
    private let context: OpaquePointer

    /// The algorithm, looked up once: with `EVP_sha256()`, each digest would look it up again (OpenSSL 3,
    /// crypto(7)).
    ///
    /// Safe: read-only and counted by OpenSSL's own atomic references; never freed.
    private nonisolated(unsafe) static let algorithm = unsafe EVP_MD_fetch(nil, "SHA256", nil)

    package init() {
        // Both fail only if memory is exhausted, and then Swift's own allocations trap as well.
        guard let context = unsafe EVP_MD_CTX_new(),
            unsafe EVP_DigestInit_ex(context, Self.algorithm ?? EVP_sha256(), nil) == 1
        else {
            preconditionFailure("SHA-256 is not available")
        }
        unsafe self.context = context
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    /// Adds the next bytes; O(count).
    package mutating func append(_ bytes: Span<UInt8>) {
        // Safe: the span is valid for its count, and the call keeps no pointer.
        let code = unsafe bytes.withUnsafeBufferPointer {
            unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count)
        }
        precondition(code == 1, "SHA-256 failed")
    }

    package consuming func finish() -> Digest {
        // Safe: SHA-256 writes exactly 32 bytes into a buffer of 32.
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Digest.byteCount) { buffer, count in
            let code = unsafe EVP_DigestFinal_ex(context, buffer.baseAddress, nil)
            precondition(code == 1, "SHA-256 failed")
            count = Digest.byteCount
        }
        guard let digest = Digest(bytes: bytes) else { preconditionFailure("SHA-256 has 32 bytes") }
        return digest
    }
}
