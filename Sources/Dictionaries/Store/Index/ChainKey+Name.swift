extension ChainKey {
    /// The length of every name.
    package static let nameLength = 22

    /// What names the chain in the path of a dictionary of its own: the first half of a SHA-256, in base64url.
    ///
    /// Over its parts with their lengths, so that no two chains have the same text. It tells nothing of the chain; only
    /// public ones are ever named.
    package var name: String {
        var text = ""
        for part in [authority, match] + matchDest { text += "\(part.utf8.count):\(part)" }
        return Base64.encodeURL(Array(Digest(of: text.utf8.span).bytes.prefix(16)))
    }
}
