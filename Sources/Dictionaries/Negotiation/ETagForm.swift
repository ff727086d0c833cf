/// The form of entity tags on the way between client and upstream, by the contract's paragraph on validators.
package enum ETagForm {
    /// The tag that the client gets: weak where the coding is not the upstream's (RFC 9110 section 8.8.1).
    ///
    /// A malformed tag goes on as it is where nothing changes, and is dropped where the coding does.
    package static func sent(_ upstream: String, isCodingChanged: Bool) -> String? {
        if !isCodingChanged { return upstream }
        return EntityTag(upstream)?.weakened.serialized
    }

    /// Whether If-None-Match makes the answer a 304, whichever coding the client holds (RFC 9110 section 13.1.2).
    package static func isNotModified(ifNoneMatch: [String], etag: EntityTag?) -> Bool {
        guard !ifNoneMatch.isEmpty, let etag else { return false }
        return EntityTag.parseList(ifNoneMatch).weakMatches(etag)
    }

    /// If-Match for the upstream: a tag that Dictum weakened goes back as the strong one that it was.
    package static func upstreamIfMatch(_ lines: [String]) -> String? {
        switch EntityTag.parseList(lines) {
        case .any: "*"
        case .tags(let tags):
            tags.isEmpty ? nil : tags.map(\.strengthened.serialized).joined(separator: ", ")
        }
    }
}
