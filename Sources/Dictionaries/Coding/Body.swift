internal import Primitives

/// A whole, immutable, identity-coded response body with its digest; safe to share between threads.
///
/// The codecs keep pointers to `bytes` while they live, since dictionaries are used in place and not copied. Code
/// that hands such a pointer to a C library also keeps the `Body`.
package final class Body: Sendable {
    /// The bytes, which never change, so that their address stays the same for the life of the body.
    package let bytes: [UInt8]
    /// The SHA-256 of `bytes`.
    package let digest: Digest

    package var count: Int { bytes.count }

    /// Takes the bytes and hashes them; O(count).
    package init(_ bytes: consuming [UInt8]) {
        digest = Digest(of: bytes.span)
        self.bytes = bytes
    }

    /// Takes the bytes and a digest that the caller knows to be theirs.
    package init(_ bytes: consuming [UInt8], digest: Digest) {
        self.bytes = bytes
        self.digest = digest
    }

    /// Returns true if the body has these bytes; O(count), at the speed of memory, unless they share the body's memory.
    package func hasBytes(_ other: [UInt8]) -> Bool {
        hasMemory(of: other) || bytes.equals(other)
    }

    /// Returns true if an array shares the memory of the body, as it does when it comes from the store or repeats the body.
    package func hasMemory(of other: [UInt8]) -> Bool {
        // Safe: the addresses are compared, not followed.
        unsafe other.withUnsafeBufferPointer { unsafe $0.baseAddress == stableAddress }
    }

    /// The address of the first byte, valid as long as this body lives; nil only if the library has no storage.
    ///
    // Safe to keep with the body: on Linux an array owns one heap buffer, which moves only if the array is mutated,
    // and a `let` of a class never is.
    var stableAddress: UnsafePointer<UInt8>? {
        unsafe bytes.withUnsafeBufferPointer { $0.baseAddress }
    }
}
