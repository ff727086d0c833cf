/// Why an answer got the coding it got, or was not admitted: the closed list of metrics, access log and Dictum-Explain.
package enum Reason: String, CaseIterable, Sendable {
    // A dictionary was used.
    /// Coded over a dictionary.
    case delta
    /// A delta made before was sent again.
    case deltaCached = "delta-cached"

    // A dictionary was not used, because of the request.
    /// The request has no valid Available-Dictionary.
    case noDictionaryOffered = "no-dictionary-offered"
    /// The digest names nothing that this request may use.
    case dictionaryUnknown = "dictionary-unknown"
    /// The dictionary is known, but its bytes are not in memory.
    case dictionaryCold = "dictionary-cold"
    /// The client names neither dcb nor dcz.
    case codingNotAccepted = "coding-not-accepted"
    /// The client prefers another coding to dcb and dcz.
    case otherCodingPreferred = "other-coding-preferred"
    /// RFC 9842 section 9.3.3 forbids it.
    case crossOrigin = "cross-origin"
    /// The client's transport is not secure (RFC 9842 section 8).
    case insecureTransport = "insecure-transport"
    /// The answer is personal and the route public.
    case personal
    /// The route is private and the request's identity is not whole.
    case identityIncomplete = "identity-incomplete"
    /// The path is not in normal form.
    case pathNotNormal = "path-not-normal"
    /// The chain has more variants or URLs than it may.
    case chainTooWide = "chain-too-wide"
    /// The route has no dictionaries.
    case routeOff = "route-off"
    /// Dictionaries are switched off everywhere.
    case switchedOff = "switched-off"
    /// The encoders' memory or queue is full.
    case busy

    // Nothing was coded.
    /// The client accepts no coding that the server has.
    case noCodingAccepted = "no-coding-accepted"
    /// The type of the answer is not among `types`.
    case ineligibleType = "ineligible-type"
    /// The body is too short, or for a dictionary too long.
    case ineligibleSize = "ineligible-size"
    /// The coded form was no shorter.
    case notShorter = "not-shorter"
    /// The status is not 200.
    case ineligibleStatus = "ineligible-status"
    /// The method is none that this is done for.
    case ineligibleMethod = "ineligible-method"
    /// The request has Range, or the answer Content-Range.
    case range
    /// `no-transform` on the request or the answer.
    case noTransform = "no-transform"
    /// The upstream coded the answer in a way that must stay.
    case codedUpstream = "coded-upstream"
    /// The body would end with the connection.
    case http10
    /// text/event-stream, not listed by name.
    case eventStream = "event-stream"

    // Not admitted, or not offered.
    /// `no-store` on the request or the answer.
    case noStore = "no-store"
    /// The answer has a Set-Cookie that is not ignored.
    case setCookie = "set-cookie"
    /// The answer has `Vary: *`.
    case varyAny = "vary-any"
    /// The upstream sends a Use-As-Dictionary of its own.
    case offeredUpstream = "offered-upstream"

    // Something failed.
    /// A delta did not decode to the body, and was not sent.
    case verifyFailed = "verify-failed"
    /// An encoder or decoder failed.
    case codingFailed = "coding-failed"
}
