/// The SHA-256 of a dictionary's bytes, as Available-Dictionary carries it (RFC 9842 section 2.2).
package struct Digest: Hashable, Sendable {
    private let bytes: [UInt8]

    /// A digest of exactly 32 bytes; nil for any other number.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }
}
