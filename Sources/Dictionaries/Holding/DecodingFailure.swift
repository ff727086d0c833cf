/// The rule by which clients go on after a body that they could not decode; pure.
///
/// Something between server and client may have damaged a delta, and would damage the next one, too. A request without a
/// dictionary gets the body nevertheless.
package struct DecodingFailure: Equatable, Sendable {
    /// True if the body was a delta, so that its dictionary is not named again.
    ///
    /// One that is too long was decoded well: its dictionary is not to blame, and its plain form has the same length.
    package let dropsDictionary: Bool
    /// True if the request is sent once more, without a dictionary.
    package let asksAgain: Bool

    /// - Parameter method: The method of the request; a POST has had its effect already (RFC 9110 section 9.2.2).
    package init(_ error: CodingError, method: String) {
        dropsDictionary = error.coding.usesDictionary && error.stage != .limit
        asksAgain = dropsDictionary && method != "POST"
    }
}
