extension ChainKey {
    /// The name of the chain in the path of a linked dictionary: the first half of a SHA-256, in base64url.
    ///
    /// The hash covers the length of every part, so that no two chains hash the same text. The name reveals
    /// nothing about the chain; only public chains are ever named.
    package var name: String {
        var text = ""
        for part in [authority, match] + matchDest { text += "\(part.utf8.count):\(part)" }
        return Base64.encodeURL(Array(Digest(of: text.utf8.span).bytes.prefix(16)))
    }
}
