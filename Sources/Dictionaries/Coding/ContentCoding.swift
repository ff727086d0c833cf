/// The content codings that Dictum speaks (RFC 9110 section 8.4.1, RFC 9842 sections 4 and 5).
package enum ContentCoding: String, CaseIterable, Sendable {
    case identity, gzip, br, zstd, dcb, dcz

    /// Whether the coding needs a dictionary.
    package var usesDictionary: Bool { self == .dcb || self == .dcz }
}
