/// Whose a private chain is, without saying who: an HMAC-SHA256 of the identity under the store's key.
package struct IdentityTag: Hashable, Sendable {
    // Kept as a digest is: 32 bytes inline.
    private let code: Digest

    /// The tag of these 32 bytes; nil for any other number of them.
    init?(bytes: [UInt8]) {
        guard let code = Digest(bytes: bytes) else { return nil }
        self.code = code
    }

    /// The 32 bytes.
    var bytes: [UInt8] { code.bytes }
}
