internal import COpenSSL
internal import Dictionaries

/// HMAC-SHA256 under one key (RFC 2104), for any number of threads at once.
// @unchecked proof: after `init` the context is only copied, by a function that takes it as const.
@safe final class MessageAuthenticator: @unchecked Sendable {
    // Owned: made in `init`, freed in `deinit`, never handed out. It has the key and has seen no message.
    private let keyed: OpaquePointer

    /// Takes the key, of any length.
    init(key: [UInt8]) {
        // All of this fails only if memory is exhausted, and then Swift's own allocations trap as well. Safe: the
        // calls read parameters and key only while they run, and both outlive them; the context keeps its own
        // reference to the algorithm.
        let context: OpaquePointer? = {
            guard let algorithm = unsafe EVP_MAC_fetch(nil, "HMAC", nil) else { return nil }
            defer { unsafe EVP_MAC_free(algorithm) }
            guard let context = unsafe EVP_MAC_CTX_new(algorithm) else { return nil }
            let parameters = unsafe [dictum_param_mac_sha256(), OSSL_PARAM_construct_end()]
            let code = unsafe EVP_MAC_init(context, key, key.count, parameters)
            guard code == 1 else {
                unsafe EVP_MAC_CTX_free(context)
                return nil
            }
            return unsafe context
        }()
        guard let context = unsafe context else { preconditionFailure("HMAC-SHA256 is not available") }
        unsafe keyed = context
    }

    deinit { unsafe EVP_MAC_CTX_free(keyed) }

    /// Returns the code of a message: 32 bytes; O(count).
    func code(of message: [UInt8]) -> [UInt8] {
        // Safe: the copy is this call's own; HMAC-SHA256 writes 32 bytes into a buffer of 32.
        let context = unsafe EVP_MAC_CTX_dup(keyed)
        defer { unsafe EVP_MAC_CTX_free(context) }
        return unsafe [UInt8](unsafeUninitializedCapacity: Digest.byteCount) { buffer, count in
            var written = 0
            let isDone =
                unsafe context != nil && EVP_MAC_update(context, message, message.count) == 1
                && EVP_MAC_final(context, buffer.baseAddress, &written, buffer.count) == 1
            precondition(isDone && written == Digest.byteCount, "HMAC-SHA256 failed")
            count = written
        }
    }

    /// Returns a key of its own for one purpose: the first block of HKDF-Expand (RFC 5869 section 2.3).
    ///
    /// The key must be uniformly random, so that nothing has to be extracted first (section 3.3).
    func derivedKey(_ label: String) -> [UInt8] {
        code(of: Array(label.utf8) + [1])
    }
}

/// Parts written one after the other, each preceded by its length, so that different parts give different bytes.
struct LengthPrefixed {
    private(set) var bytes: [UInt8] = []

    /// Begins with a label that names the purpose of the parts.
    init(_ label: String, _ parts: [UInt8]...) {
        append(label)
        for part in parts { append(part) }
    }

    mutating func append(_ part: some Collection<UInt8>) {
        bytes += BigEndian.bytes(UInt64(part.count))
        bytes.append(contentsOf: part)
    }

    mutating func append(_ text: String) {
        append(text.utf8)
    }

    /// Returns the parts that the bytes were made of, the label first; nil if the bytes end too soon.
    static func parts(of bytes: [UInt8]) -> [[UInt8]]? {
        var parts: [[UInt8]] = []
        var start = 0
        while start < bytes.count {
            guard bytes.count - start >= 8 else { return nil }
            let count = bytes[start..<start + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            start += 8
            guard let count = Int(exactly: count), count <= bytes.count - start else { return nil }
            parts.append(Array(bytes[start..<start + count]))
            start += count
        }
        return parts
    }
}

/// Whole numbers in the order of the network.
enum BigEndian {
    static func bytes<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        stride(from: Number.bitWidth - 8, through: 0, by: -8).map {
            UInt8(truncatingIfNeeded: number >> Number($0))
        }
    }

    /// Returns the number in the bytes; nil unless there are exactly as many as it has.
    static func number<Number: FixedWidthInteger>(_ bytes: ArraySlice<UInt8>) -> Number? {
        guard bytes.count * 8 == Number.bitWidth else { return nil }
        return bytes.reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }
}
