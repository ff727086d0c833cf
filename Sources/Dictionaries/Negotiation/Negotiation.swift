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
        serverPreference: CodingPreference
    ) -> Decision {
        if let reason = Eligibility.obstacle(request: request, response: response, policy: route) {
            return untouched(request, response, because: reason)
        }
        // Without a length the body of an HTTP/1.0 answer ends with the connection, and a cut would pass unseen.
        if request.isHTTP10 && !response.isBodyWhole { return untouched(request, response, because: .http10) }
        let negotiator = Negotiator(
            accept: request.acceptEncoding, upstream: response.coding, bodyBytes: response.bodyBytes,
            dictionary: dictionary, serverPreference: serverPreference, bodyBytesSeen: response.bodyBytesSeen)
        return negotiator.coded(
            policyObstacle: route.dictionaryObstacle(request: request, response: response))
    }

    /// The answer without a coding of ours: the upstream's own stays, or is undone where the client does not accept it.
    private static func untouched(
        _ request: RequestFacts, _ response: ResponseFacts, because reason: Reason
    ) -> Decision {
        switch response.coding {
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

/// What the choice among the codings goes by.
private struct Negotiator {
    let accept: AcceptEncoding
    let upstream: UpstreamCoding
    let bodyBytes: Int?
    let dictionary: DictionaryFound
    let serverPreference: CodingPreference
    /// Bytes of the body that have come, where its length is not known.
    let bodyBytesSeen: Int

    /// The answer in the best coding; `policyObstacle` is why none over a dictionary may be used, whatever the dictionary.
    func coded(policyObstacle: Reason?) -> Decision {
        let obstacle = policyObstacle ?? dictionaryObstacle()
        // Where the client accepts the upstream's own coding, no other is worth decoding and encoding for.
        let own = acceptedUpstreamCoding()
        var best = ContentCoding.identity
        var bestQuality = 0
        for coding in serverPreference.codings
        where coding.usesDictionary
            ? obstacle == nil && suits(coding) : own == nil ? !yieldsToGzip(coding) : own == coding
        {
            let quality = accept.quality(of: coding)
            if quality > bestQuality { (best, bestQuality) = (coding, quality) }
        }
        // Last, so that among equals what needs no work of ours loses to what saves bytes.
        let last = own ?? .identity
        if accept.quality(of: last) > bestQuality { best = last }
        return decision(best, obstacle: obstacle)
    }

    private func acceptedUpstreamCoding() -> ContentCoding? {
        guard case .known(let own) = upstream, accept.quality(of: own) > 0 else { return nil }
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

    /// Why the dictionary is not used, whatever the weights; nil where it may be.
    private func dictionaryObstacle() -> Reason? {
        switch dictionary {
        case .noneOffered: return .noDictionaryOffered
        case .unknown: return .dictionaryUnknown
        case .cold: return .dictionaryCold
        case .found: return accepts(.dcz) || accepts(.dcb) ? nil : .codingNotAccepted
        }
    }

    private func accepts(_ coding: ContentCoding) -> Bool {
        serverPreference.codings.contains(coding) && accept.quality(of: coding) > 0
    }

    /// True where gzip is as welcome to the client, and sends fewer bytes or takes less time.
    private func yieldsToGzip(_ coding: ContentCoding) -> Bool {
        accept.quality(of: .gzip) >= accept.quality(of: coding)
            && serverPreference.yieldsToGzip(coding, bodyBytes: bodyBytes ?? bodyBytesSeen)
    }

    /// Whether a dictionary coding is to be used: dcz not where dcb may be and is better.
    ///
    /// That is so for a body beyond the window of dcz, or maybe beyond it, and for a dictionary that begins with the
    /// magic number of Zstandard's own dictionaries, which some clients then misread. Alone dcz is still right for both.
    private func suits(_ coding: ContentCoding) -> Bool {
        guard coding == .dcz, accepts(.dcb), case .found(_, let startsWithZstdMagic) = dictionary else {
            return true
        }
        return !startsWithZstdMagic && (bodyBytes ?? .max) <= Negotiation.dczBodyBytesMax
    }
}
