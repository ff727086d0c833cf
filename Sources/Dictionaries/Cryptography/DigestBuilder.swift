internal import Primitives

#if canImport(CryptoKit)
internal import CryptoKit

/// A SHA-256 over bytes that arrive piece by piece, by the system.
package struct DigestBuilder: ~Copyable {
    private var hash = SHA256()

    package init() {}

    /// Adds the next bytes; O(count).
    package mutating func append(_ bytes: Span<UInt8>) {
        // Safe: the span is valid for its count, and the call keeps no pointer.
        unsafe bytes.withUnsafeBytes { unsafe hash.update(bufferPointer: $0) }
    }

    package consuming func finish() -> Digest {
        guard let digest = Digest(bytes: Array(hash.finalize())) else {
            preconditionFailure("SHA-256 has 32 bytes")
        }
        return digest
    }
}
#else
internal import COpenSSL

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
#endif
