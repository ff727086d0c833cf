/// The owner of a private chain, unreadable: an HMAC-SHA256 of the identity, or of a personal body, under the store's key.
package struct IdentityTag: Hashable, Sendable {
    /// The 32 bytes, kept as a digest is: inline.
    let code: Digest

    init(code: Digest) { self.code = code }

    /// The tag of these 32 bytes; nil for any other number of them.
    init?(bytes: [UInt8]) {
        guard let code = Digest(bytes: bytes) else { return nil }
        self.code = code
    }

    /// The 32 bytes.
    var bytes: [UInt8] { code.bytes }
}
