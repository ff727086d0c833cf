internal import Primitives

/// The SHA-256 of a body, which names a dictionary (RFC 9842 section 2.2).
package struct Digest: Hashable, Sendable, CustomStringConvertible {
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

    package var description: String { hex }
}
