/// The path of a dictionary that a Link names: `/.dictum/CHAIN/DIGEST`, both in base64url.
package struct DictionaryPath: Hashable, Sendable {
    /// The start of all of Dictum's own paths.
    package static let prefix = "/.dictum/"

    package let chain: String
    package let digest: Digest

    package init(chain: String, digest: Digest) {
        self.chain = chain
        self.digest = digest
    }

    /// Reads a path; nil for any other form.
    package init?(_ path: String) {
        guard path.hasPrefix(Self.prefix) else { return nil }
        let parts = path.dropFirst(Self.prefix.count).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let digest = Digest(base64URL: String(parts[1])),
            parts[0].utf8.count == ChainKey.nameLength
        else { return nil }
        self.init(chain: String(parts[0]), digest: digest)
    }

    /// Returns true if a path is one of Dictum's own, which no upstream ever sees.
    package static func isReserved(_ path: String) -> Bool {
        let (bytes, prefixBytes) = (path.utf8, prefix.utf8)
        let (text, prefix) = (bytes.span, prefixBytes.span)
        // The slash at the end may be missing.
        guard text.count >= prefix.count - 1 else { return false }
        for index in 0..<min(text.count, prefix.count) where text[index] != prefix[index] { return false }
        return true
    }

    package var text: String { "\(Self.prefix)\(chain)/\(digest.base64URL)" }
}
