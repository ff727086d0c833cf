/// The choice of the coding of an answer, as one pure function.
package enum Negotiation {
    /// The window of dcz: a body up to this length keeps the whole dictionary in reach (RFC 9842 section 5).
    package static let dczBodyBytesMax = 8 << 20

    /// Decides how the answer goes to the client, and why.
    ///
    /// The highest weight wins, among equals the server's order; identity comes last among equals. Where nothing fits,
    /// identity is sent even if the client refuses it: never 406. `isBusy` forbids all encoding for lack of memory.
    package static func decide(
        request: RequestFacts, response: ResponseFacts, route: RoutePolicy, dictionary: DictionaryFound,
        serverPreference: [ContentCoding], isBusy: Bool = false
    ) -> Decision {
        let negotiator = Negotiator(
            request: request, response: response, route: route, dictionary: dictionary,
            serverPreference: serverPreference)
        if let reason = Eligibility.obstacle(request: request, response: response, policy: route) {
            return negotiator.untouched(because: reason)
        }
        // Without a length the body of an HTTP/1.0 answer ends with the connection, and a cut would pass unseen.
        if request.isHTTP10 && !response.isBodyWhole { return negotiator.untouched(because: .http10) }
        if isBusy { return negotiator.untouched(because: .busy) }
        return negotiator.coded()
    }
}

/// The facts of one decision.
private struct Negotiator {
    let request: RequestFacts
    let response: ResponseFacts
    let route: RoutePolicy
    let dictionary: DictionaryFound
    let serverPreference: [ContentCoding]
    let upstream: UpstreamCoding

    init(
        request: RequestFacts, response: ResponseFacts, route: RoutePolicy, dictionary: DictionaryFound,
        serverPreference: [ContentCoding]
    ) {
        self.request = request
        self.response = response
        self.route = route
        self.dictionary = dictionary
        self.serverPreference = serverPreference
        upstream = UpstreamCoding(response.contentEncodings)
    }

    /// The answer in the best coding.
    func coded() -> Decision {
        let obstacle = dictionaryObstacle()
        // Where the client accepts the upstream's own coding, no other is worth decoding and encoding for.
        let own = acceptedUpstreamCoding()
        var best = ContentCoding.identity
        var bestQuality = 0
        func consider(_ coding: ContentCoding) {
            let quality = request.acceptEncoding.quality(of: coding)
            if quality > bestQuality { (best, bestQuality) = (coding, quality) }
        }
        for coding in serverPreference
        where coding.usesDictionary ? obstacle == nil && suits(coding) : own == nil || own == coding {
            consider(coding)
        }
        // Last, so that among equals what needs no work of ours loses to what saves bytes.
        consider(own ?? .identity)
        return decision(best, obstacle: obstacle)
    }

    /// The answer without a coding of ours: the upstream's own stays, or is undone where the client does not accept it.
    func untouched(because reason: Reason) -> Decision {
        switch upstream {
        case .none: return Decision(coding: .identity, reason: reason)
        case .foreign:
            return Decision(coding: .identity, reason: reason, upstreamCodingHandling: .passThrough)
        case .known(let own):
            let mayDecode = Eligibility.transformObstacle(request: request, response: response) == nil
            if mayDecode && request.acceptEncoding.quality(of: own) == 0 {
                return Decision(coding: .identity, reason: reason, upstreamCodingHandling: .decode)
            }
            return Decision(coding: own, reason: reason, upstreamCodingHandling: .passThrough)
        }
    }

    private func acceptedUpstreamCoding() -> ContentCoding? {
        guard case .known(let own) = upstream, request.acceptEncoding.quality(of: own) > 0 else { return nil }
        return own
    }

    private func decision(_ coding: ContentCoding, obstacle: Reason?) -> Decision {
        let handling: Decision.UpstreamHandling =
            switch upstream {
            case .known(let own): own == coding ? .passThrough : .decode
            case .none, .foreign: .none
            }
        let reason: Reason =
            if coding.usesDictionary {
                .delta
            } else if coding == .identity, obstacle == .noDictionaryOffered {
                .noCodingAccepted
            } else {
                obstacle ?? .otherCodingPreferred
            }
        return Decision(coding: coding, reason: reason, upstreamCodingHandling: handling)
    }

    /// Why no dictionary is used, whatever the weights; nil where one may be.
    private func dictionaryObstacle() -> Reason? {
        if let reason = route.dictionaryObstacle(request: request, response: response) { return reason }
        switch dictionary {
        case .noneOffered: return .noDictionaryOffered
        case .unknown: return .dictionaryUnknown
        case .cold: return .dictionaryCold
        case .found: return accepts(.dcz) || accepts(.dcb) ? nil : .codingNotAccepted
        }
    }

    private func accepts(_ coding: ContentCoding) -> Bool {
        serverPreference.contains(coding) && request.acceptEncoding.quality(of: coding) > 0
    }

    /// Whether a dictionary coding is to be used: dcz not where dcb may be and is better.
    ///
    /// That is so for a body beyond the window of dcz, or maybe beyond it, and for a dictionary that begins with the
    /// magic number of Zstandard's own dictionaries, which some clients then misread. Alone dcz is still right for both.
    private func suits(_ coding: ContentCoding) -> Bool {
        guard coding == .dcz, accepts(.dcb), case .found(_, let startsWithZstdMagic) = dictionary else {
            return true
        }
        return !startsWithZstdMagic && (response.bodyBytes ?? .max) <= Negotiation.dczBodyBytesMax
    }
}
