/// The path of a dictionary of its own, as a Link names it: `/.dictum/CHAIN/DIGEST`, both base64url.
package struct DictionaryPath: Hashable, Sendable {
    /// What all of Dictum's own paths begin with.
    package static let prefix = "/.dictum/"

    /// The name of the chain.
    package let chain: String
    /// The digest of the body.
    package let digest: Digest

    /// The path of a body in a chain.
    package init(chain: String, digest: Digest) {
        self.chain = chain
        self.digest = digest
    }

    /// Reads a path; nil for any other than exactly such a one.
    package init?(_ path: String) {
        guard path.hasPrefix(Self.prefix) else { return nil }
        let parts = path.dropFirst(Self.prefix.count).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let digest = Digest(base64URL: String(parts[1])),
            parts[0].utf8.count == ChainKey.nameLength
        else { return nil }
        self.init(chain: String(parts[0]), digest: digest)
    }

    /// Whether a path is one of those that no upstream ever sees.
    package static func isReserved(_ path: String) -> Bool {
        let (bytes, prefixBytes) = (path.utf8, prefix.utf8)
        let (text, prefix) = (bytes.span, prefixBytes.span)
        // Its slash at the end may be missing.
        guard text.count >= prefix.count - 1 else { return false }
        for index in 0..<min(text.count, prefix.count) where text[index] != prefix[index] { return false }
        return true
    }

    /// The path.
    package var text: String { "\(Self.prefix)\(chain)/\(digest.base64URL)" }
}
