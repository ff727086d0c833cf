/// The reason for the coding of a response, or for not admitting it: the closed list of metrics, access log and
/// Dictum-Explain.
package enum Reason: Int, CaseIterable, Sendable {
    // A dictionary was used.
    /// The response was coded over a dictionary.
    case delta
    /// A cached delta was sent.
    case deltaCached
    /// The response was coded over the built dictionary of its route.
    case deltaBuilt

    // A dictionary was not used, because of the request.
    // The request has no valid Available-Dictionary. Whether its client supports dictionaries, it does not tell.
    /// The request asks whether a response that its client keeps is still valid: the client has kept that, but no
    /// dictionary.
    case dictionaryNotKept
    /// The request shows nothing that its client has kept.
    case clientNew
    /// The digest names no dictionary that this request may use.
    case dictionaryUnknown
    /// The dictionary is known, but its bytes are not in memory.
    case dictionaryCold
    /// The client accepts neither dcb nor dcz.
    case codingNotAccepted
    /// The client prefers another coding to dcb and dcz.
    case otherCodingPreferred
    /// The cross-origin rule forbids a dictionary (RFC 9842 section 9.3.3).
    case crossOrigin
    /// The client's transport is not secure (RFC 9842 section 8).
    case insecureTransport
    /// The response is personal, and the public route has `personal: off`.
    case personal
    /// The route is private and the client's identity incomplete.
    case identityIncomplete
    /// The path is not in normal form.
    case pathNotNormal
    /// The route has no dictionaries.
    case routeOff
    /// Dictionaries are switched off everywhere.
    case switchedOff
    /// The setting `authorities` does not include the authority of the request.
    case authorityOff
    /// The client is one of those that an experiment holds out.
    case heldOut
    /// The memory or the queue of the encoders is full.
    case busy

    // Nothing was coded.
    /// The client accepts no coding of the server.
    case noCodingAccepted
    /// The type of the response is not in `types`.
    case ineligibleType
    /// The body is too short, or for a dictionary too long.
    case ineligibleSize
    /// The coded form was no shorter.
    case notShorter
    /// The status is neither 200 nor that of `notModified`.
    case ineligibleStatus
    /// The client has the response already (304), so that there is nothing to send.
    case notModified
    /// The method has no coded responses or no versions.
    case ineligibleMethod
    /// The request has Range, or the response Content-Range.
    case range
    /// The request or the response says `no-transform`.
    case noTransform
    /// The upstream coded the response in a way that must stay.
    case codedUpstream
    /// The body would end with the connection.
    case http10
    /// The type is text/event-stream, which `types` does not list by name.
    case eventStream

    // Not admitted, or not offered.
    /// The request or the response says `no-store`.
    case noStore
    /// The response has `Vary: *`.
    case varyAny
    /// The response to QUERY or POST has no lifetime in its fields.
    case notFresh
    /// The response to POST says that it is the representation of another URL.
    case contentLocation
    /// The upstream sends a Use-As-Dictionary of its own.
    case offeredUpstream

    // Something failed.
    /// A delta did not decode to the body, and was not sent.
    case verifyFailed
    /// An encoder or decoder failed.
    case codingFailed

    /// The position among all reasons, as an index for counters.
    ///
    /// Reasons are stored as numbers, since text takes ten times as long to compare.
    package var index: Int { rawValue }

    /// The name in metrics, access log and Dictum-Explain: that of the case, with hyphens (`client-new` of
    /// `clientNew`).
    package var text: String { Self.texts[rawValue] }

    private static let texts = allCases.map { reason in
        "\(reason)".reduce(into: "") { text, letter in
            text += letter.isUppercase ? "-" + letter.lowercased() : String(letter)
        }
    }

    /// Finds the reason with this name; nil if there is none.
    package init?(text: String) {
        guard let reason = Self.allCases.first(where: { $0.text == text }) else { return nil }
        self = reason
    }
}
