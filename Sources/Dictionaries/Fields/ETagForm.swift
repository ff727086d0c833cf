/// The rewriting of entity tags between client and upstream (RFC 9110 section 8.8.3; see the article Rules).
package enum ETagForm {
    /// Returns the tag that the client gets, weak if the coding is not the upstream's (RFC 9110 section 8.8.1).
    ///
    /// A malformed tag is forwarded if the coding does not change, and dropped if it does.
    package static func sent(_ upstream: String, isCodingChanged: Bool) -> String? {
        if !isCodingChanged { return upstream }
        return EntityTag(upstream)?.weakened.serialized
    }

    /// Returns the entity tag of a body whose response had none.
    package static func made(of digest: Digest) -> String {
        "\(madePrefix)\(digest.base64URL.prefix(22))\""
    }

    private static let madePrefix = "\"dictum-"

    /// Returns true for a tag that Dictum has made, in its strong or its weak form: no upstream knows it.
    static func isMade(_ tag: EntityTag) -> Bool { tag.opaque.hasPrefix(madePrefix) }

    /// Returns true if If-None-Match makes the response a 304, whichever coding the client has (RFC 9110 section
    /// 13.1.2).
    package static func isNotModified(ifNoneMatch: [String], etag: EntityTag?) -> Bool {
        guard !ifNoneMatch.isEmpty, let etag else { return false }
        return EntityTag.parseList(ifNoneMatch).weakMatches(etag)
    }

    /// Returns If-Match for the upstream: a tag that Dictum weakened becomes the strong tag that it was, and one that Dictum made
    /// goes.
    ///
    /// `isOwn` tells of a weak tag whether it is the upstream's own. Returns nil if the field goes up as it came, and an empty
    /// text if no tag is left.
    package static func upstreamIfMatch(
        _ lines: [String], keeping isOwn: (EntityTag) -> Bool = { _ in false }
    ) -> String? {
        guard case .tags(let tags, isWhole: true) = EntityTag.parseList(lines),
            tags.contains(where: { isMade($0) || $0.isWeak && !isOwn($0) })
        else { return nil }
        return tags.filter { !isMade($0) }.map { isOwn($0) ? $0.serialized : $0.strengthened.serialized }
            .joined(separator: ", ")
    }
}
