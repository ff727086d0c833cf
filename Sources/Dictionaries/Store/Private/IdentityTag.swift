/// The owner of a private chain in unreadable form: an HMAC-SHA256 of the identity, or of a personal body,
/// under the store's key.
package struct IdentityTag: Hashable, Sendable {
    /// The 32 bytes, stored inline as a digest is.
    let code: Digest

    init(code: Digest) { self.code = code }

    /// Makes a tag of exactly 32 bytes; nil for any other number.
    init?(bytes: [UInt8]) {
        guard let code = Digest(bytes: bytes) else { return nil }
        self.code = code
    }

    var bytes: [UInt8] { code.bytes }
}
