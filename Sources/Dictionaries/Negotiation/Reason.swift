/// Why an answer got the coding it got, or was not admitted: the closed list of metrics, access log and Dictum-Explain.
package enum Reason: Int, CaseIterable, Sendable {
    // A dictionary was used.
    /// Coded over a dictionary.
    case delta
    /// A delta made before was sent again.
    case deltaCached

    // A dictionary was not used, because of the request.
    /// The request has no valid Available-Dictionary.
    case noDictionaryOffered
    /// The digest names nothing that this request may use.
    case dictionaryUnknown
    /// The dictionary is known, but its bytes are not in memory.
    case dictionaryCold
    /// The client names neither dcb nor dcz.
    case codingNotAccepted
    /// The client prefers another coding to dcb and dcz.
    case otherCodingPreferred
    /// RFC 9842 section 9.3.3 forbids it.
    case crossOrigin
    /// The client's transport is not secure (RFC 9842 section 8).
    case insecureTransport
    /// The answer is personal and the route public.
    case personal
    /// The route is private and the request's identity is not whole.
    case identityIncomplete
    /// The path is not in normal form.
    case pathNotNormal
    /// The route has no dictionaries.
    case routeOff
    /// Dictionaries are switched off everywhere.
    case switchedOff
    /// The request's authority is none of the setting `authorities`.
    case authorityOff
    /// The encoders' memory or queue is full.
    case busy

    // Nothing was coded.
    /// The client accepts no coding that the server has.
    case noCodingAccepted
    /// The type of the answer is not among `types`.
    case ineligibleType
    /// The body is too short, or for a dictionary too long.
    case ineligibleSize
    /// The coded form was no shorter.
    case notShorter
    /// The status is not 200.
    case ineligibleStatus
    /// The method is none that this is done for.
    case ineligibleMethod
    /// The request has Range, or the answer Content-Range.
    case range
    /// `no-transform` on the request or the answer.
    case noTransform
    /// The upstream coded the answer in a way that must stay.
    case codedUpstream
    /// The body would end with the connection.
    case http10
    /// text/event-stream, not listed by name.
    case eventStream

    // Not admitted, or not offered.
    /// `no-store` on the request or the answer.
    case noStore
    /// The answer has `Vary: *`.
    case varyAny
    /// The upstream sends a Use-As-Dictionary of its own.
    case offeredUpstream

    // Something failed.
    /// A delta did not decode to the body, and was not sent.
    case verifyFailed
    /// An encoder or decoder failed.
    case codingFailed

    /// Its place among all, to count by: kept as a number, since text takes ten times as long to compare.
    package var place: Int { rawValue }

    /// As metrics, access log and Dictum-Explain have it.
    package var text: String {
        switch self {
        case .delta: "delta"
        case .deltaCached: "delta-cached"
        case .noDictionaryOffered: "no-dictionary-offered"
        case .dictionaryUnknown: "dictionary-unknown"
        case .dictionaryCold: "dictionary-cold"
        case .codingNotAccepted: "coding-not-accepted"
        case .otherCodingPreferred: "other-coding-preferred"
        case .crossOrigin: "cross-origin"
        case .insecureTransport: "insecure-transport"
        case .personal: "personal"
        case .identityIncomplete: "identity-incomplete"
        case .pathNotNormal: "path-not-normal"
        case .routeOff: "route-off"
        case .switchedOff: "switched-off"
        case .authorityOff: "authority-off"
        case .busy: "busy"
        case .noCodingAccepted: "no-coding-accepted"
        case .ineligibleType: "ineligible-type"
        case .ineligibleSize: "ineligible-size"
        case .notShorter: "not-shorter"
        case .ineligibleStatus: "ineligible-status"
        case .ineligibleMethod: "ineligible-method"
        case .range: "range"
        case .noTransform: "no-transform"
        case .codedUpstream: "coded-upstream"
        case .http10: "http10"
        case .eventStream: "event-stream"
        case .noStore: "no-store"
        case .varyAny: "vary-any"
        case .offeredUpstream: "offered-upstream"
        case .verifyFailed: "verify-failed"
        case .codingFailed: "coding-failed"
        }
    }

    /// The reason of that text; nil if there is none.
    package init?(text: String) {
        guard let reason = Self.allCases.first(where: { $0.text == text }) else { return nil }
        self = reason
    }
}
