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
}
