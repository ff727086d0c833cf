/// The choice of the coding of an answer, as one pure function.
package enum Negotiation {
    /// The window of dcz: a body up to this length keeps the whole dictionary in reach (RFC 9842 section 5).
    package static let dczBodyBytesMax = 8 << 20

    /// Decides how the answer goes to the client, and why.
    ///
    /// The highest weight wins, among equals the server's order; identity comes last among equals. Where nothing fits,
    /// identity is sent even if the client refuses it: never 406.
    package static func decide(
        request: RequestFacts, response: ResponseFacts, route: RoutePolicy, dictionary: DictionaryFound,
        serverPreference: [ContentCoding], isBusy: Bool = false
    ) -> Decision {
        if let reason = Eligibility.obstacle(request: request, response: response, policy: route) {
            return untouched(request: request, response: response, reason: reason)
        }
        // Without a length the body of an HTTP/1.0 answer ends with the connection, and a cut would pass unseen.
        if request.isHTTP10 && !response.isBodyWhole {
            return untouched(request: request, response: response, reason: .http10)
        }
        if isBusy { return untouched(request: request, response: response, reason: .busy) }

        let upstream = UpstreamCoding(response.contentEncodings)
        let obstacle = dictionaryObstacle(
            request: request, response: response, route: route, dictionary: dictionary)
        var choice = Choice(accept: request.acceptEncoding)
        for coding in serverPreference {
            if coding.usesDictionary {
                guard obstacle == nil, suits(coding, request, response, dictionary, serverPreference) else {
                    continue
                }
            } else if case .known = upstream, upstream.isAccepted(by: request.acceptEncoding) {
                continue
            }
            choice.consider(coding)
        }
        return decision(choice, request: request, upstream: upstream, obstacle: obstacle)
    }

    private static func decision(
        _ choice: Choice, request: RequestFacts, upstream: UpstreamCoding, obstacle: Reason?
    ) -> Decision {
        var choice = choice
        if case .known(let own) = upstream, upstream.isAccepted(by: request.acceptEncoding) {
            choice.consider(own)
        } else {
            choice.consider(.identity)
        }
        let coding = choice.coding
        if coding.usesDictionary {
            return Decision(
                coding: coding, reason: .delta, upstreamCodingHandling: upstream == .none ? .none : .decode)
        }
        let isPassed = upstream == .known(coding)
        let reason =
            obstacle == .noDictionaryOffered && coding == .identity
            ? .noCodingAccepted : obstacle ?? .otherCodingPreferred
        return Decision(
            coding: coding, reason: reason,
            upstreamCodingHandling: upstream == .none ? .none : isPassed ? .passThrough : .decode)
    }

    /// Why no dictionary is used, whatever the weights; nil where one may be.
    private static func dictionaryObstacle(
        request: RequestFacts, response: ResponseFacts, route: RoutePolicy, dictionary: DictionaryFound
    ) -> Reason? {
        if let reason = route.dictionaryObstacle(request: request, response: response) { return reason }
        switch dictionary {
        case .noneOffered: return .noDictionaryOffered
        case .unknown: return .dictionaryUnknown
        case .cold: return .dictionaryCold
        case .found:
            let accept = request.acceptEncoding
            let isNamed = accept.quality(of: .dcz) > 0 || accept.quality(of: .dcb) > 0
            return isNamed ? nil : .codingNotAccepted
        }
    }

    /// Whether dcz is to be used where dcb could be: not for a body beyond its window, nor for a dictionary that Firefox misreads.
    private static func suits(
        _ coding: ContentCoding, _ request: RequestFacts, _ response: ResponseFacts,
        _ dictionary: DictionaryFound,
        _ serverPreference: [ContentCoding]
    ) -> Bool {
        guard coding == .dcz, case .found(_, let startsWithZstdMagic) = dictionary else { return true }
        let isDcbPossible = request.acceptEncoding.quality(of: .dcb) > 0 && serverPreference.contains(.dcb)
        let fits = (response.bodyBytes ?? .max) <= dczBodyBytesMax
        return !isDcbPossible || (fits && !startsWithZstdMagic)
    }

    /// The answer without a coding of ours: the upstream's own goes on, or is undone where the client does not accept it.
    private static func untouched(request: RequestFacts, response: ResponseFacts, reason: Reason) -> Decision
    {
        switch UpstreamCoding(response.contentEncodings) {
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
}

/// The best coding so far: a later one must weigh more to win.
private struct Choice {
    let accept: AcceptEncoding
    private(set) var coding = ContentCoding.identity
    private var weight = 0

    init(accept: AcceptEncoding) { self.accept = accept }

    mutating func consider(_ candidate: ContentCoding) {
        let quality = accept.quality(of: candidate)
        guard quality > weight else { return }
        coding = candidate
        weight = quality
    }
}

extension UpstreamCoding {
    /// Whether the client accepts the upstream's own coding.
    fileprivate func isAccepted(by accept: AcceptEncoding) -> Bool {
        guard case .known(let coding) = self else { return false }
        return accept.quality(of: coding) > 0
    }
}
