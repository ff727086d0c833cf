/// The rule by which clients ask whether what they hold is still current (RFC 9111 section 4.3.1); pure.
///
/// They ask whatever the age: the app or the user gets the same body, and a 304 is shorter than any delta. A request that
/// has a condition already gets the response to that one.
package enum OwnCondition {
    /// The fields that make a request conditional, in lower case (RFC 9110 section 13.1).
    package static let fields = [
        "if-none-match", "if-modified-since", "if-match", "if-unmodified-since", "if-range",
    ]

    /// Returns the value of If-None-Match for what came from the URL of a GET; nil if the client is not to ask.
    ///
    /// - Parameter isConditional: True if the request has one of `fields`.
    package static func entityTag(of own: CachedDictionary?, isConditional: Bool) -> String? {
        isConditional ? nil : own?.etag
    }

    /// Returns true if a 304 is about what is held: its ETag is that of the condition, or it has none.
    ///
    /// Otherwise the body would get the tag of another one, and be confirmed from then on.
    package static func isConfirmed(_ own: CachedDictionary, by etag: [String]) -> Bool {
        guard let sent = etag.first, sent != own.etag else { return true }
        guard let tag = own.etag.flatMap(EntityTag.init) else { return false }
        return EntityTag(sent)?.weakMatches(tag) == true
    }
}
