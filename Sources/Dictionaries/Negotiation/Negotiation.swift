/// The choice of the coding of a response, as one pure function.
package enum Negotiation {
    /// Decides how the response goes to the client, and gives the reason.
    ///
    /// The highest weight wins, then the server's order; identity comes last among equals. If nothing fits,
    /// identity is sent even if the client refuses it: never 406.
    package static func decide(
        request: RequestFacts, response: ResponseFacts, route: RoutePolicy, dictionary: DictionaryLookUp,
        serverPreference: CodingPreference
    ) -> Decision {
        if let reason = Eligibility.obstacle(request: request, response: response, policy: route) {
            return untouched(request, response, because: reason, types: route.types)
        }
        // Without a length, the body of an HTTP/1.0 response ends with the connection, and a cut would not be
        // noticed.
        if request.isHTTP10 && !response.isBodyWhole {
            return untouched(request, response, because: .http10, types: route.types)
        }
        let negotiator = Negotiator(
            accept: request.acceptEncoding, upstream: response.coding, bodyBytes: response.bodyBytes,
            dictionary: dictionary, isConditional: request.isConditional, serverPreference: serverPreference,
            bodyBytesSeen: response.bodyBytesSeen,
            isEventStream: response.bodyBytes == nil && MediaTypes.isEventStream(response.contentType))
        return negotiator.coded(
            policyObstacle: route.dictionaryObstacle(request: request, response: response))
    }

    /// Returns a decision without a coding of Dictum's: the upstream's own stays, or is undone if the client
    /// refuses it.
    ///
    /// Only bodies of the configured types are decoded: the coding of an archive is a part of the file.
    private static func untouched(
        _ request: RequestFacts, _ response: ResponseFacts, because reason: Reason, types: MediaTypes
    ) -> Decision {
        switch response.coding {
        case .none: return Decision(coding: .identity, reason: reason)
        case .foreign:
            return Decision(coding: .identity, reason: reason, upstreamCodingHandling: .passThrough)
        case .known(let own):
            let mayDecode =
                types.contains(response.contentType)
                && Eligibility.transformObstacle(request: request, response: response) == nil
            if mayDecode && request.acceptEncoding.quality(of: own) == 0 {
                return Decision(coding: .identity, reason: reason, upstreamCodingHandling: .decode)
            }
            return Decision(coding: own, reason: reason, upstreamCodingHandling: .passThrough)
        }
    }
}

/// The facts that the choice among the codings depends on.
private struct Negotiator {
    let accept: AcceptEncoding
    let upstream: UpstreamCoding
    let bodyBytes: Int?
    let dictionary: DictionaryLookUp
    let isConditional: Bool
    let serverPreference: CodingPreference
    /// The number of body bytes so far, if the length is not known.
    let bodyBytesSeen: Int
    let isEventStream: Bool

    /// Returns a decision for the best coding; `policyObstacle` is the reason, if any, against every dictionary.
    func coded(policyObstacle: Reason?) -> Decision {
        let obstacle = policyObstacle ?? lookUpObstacle()
        // If the client accepts the upstream's own coding, no other is worth decoding and encoding for.
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
        // Last, so that among equals a coding that saves bytes beats the one that needs no work.
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
                dictionary == .built ? .deltaBuilt : .delta
            } else if coding == .identity, dictionary == .noneOffered, obstacle == absence {
                .noCodingAccepted
            } else {
                obstacle ?? .otherCodingPreferred
            }
        return Decision(coding: coding, reason: reason, upstreamCodingHandling: handling)
    }

    /// Returns the reason why the dictionary is not used, whatever the weights; nil if it may be.
    private func lookUpObstacle() -> Reason? {
        switch dictionary {
        case .noneOffered: return absence
        case .unknown: return .dictionaryUnknown
        case .cold: return .dictionaryCold
        case .found, .built:
            return ContentCoding.overDictionary.contains(where: accepts) ? nil : .codingNotAccepted
        }
    }

    /// The reason for a request that advertises no dictionary, as far as the request tells it.
    ///
    /// Accept-Encoding does not tell whether its client supports dictionaries: browsers accept dcb and dcz only in
    /// requests that name one.
    private var absence: Reason { isConditional ? .dictionaryNotKept : .clientNew }

    private func accepts(_ coding: ContentCoding) -> Bool {
        serverPreference.codings.contains(coding) && accept.quality(of: coding) > 0
    }

    /// Returns true if gzip has at least the same weight, and sends fewer bytes or takes less time.
    private func yieldsToGzip(_ coding: ContentCoding) -> Bool {
        accept.quality(of: .gzip) >= accept.quality(of: coding)
            && serverPreference.yieldsToGzip(coding, bodyBytes: bodyBytes ?? bodyBytesSeen)
    }

    /// Returns true if a dictionary coding is to be used: always, except dcz if dcb is better and the client likes it as well.
    ///
    /// dcb is better for a body that is, or may be, beyond the window of dcz. It is also better for a dictionary
    /// that begins with the magic number of Zstandard's own dictionaries, which some clients misread, and for a built
    /// one. If dcb is not accepted, dcz is right for all of them.
    ///
    /// An event stream has no length, but each event resembles the events before it, which are in the window. Its
    /// encoders live long and flush each event, for which dcb needs many times the time and memory.
    private func suits(_ coding: ContentCoding) -> Bool {
        guard coding == .dcz, accepts(.dcb), accept.quality(of: .dcb) >= accept.quality(of: .dcz) else {
            return true
        }
        switch dictionary {
        case .noneOffered, .unknown, .cold: return true
        case .found(let prefersDcb):
            return !prefersDcb && (isEventStream || (bodyBytes ?? .max) <= DictionaryFit.dczBodyBytesMax)
        case .built: return isEventStream
        }
    }
}

/// The decision on how a response goes to the client.
package struct Decision: Equatable, Sendable {
    /// The treatment of the upstream's own coding.
    package enum UpstreamHandling: Equatable, Sendable {
        /// The upstream did not code the response.
        case none
        /// The upstream's bytes are forwarded unchanged.
        case passThrough
        /// The upstream's bytes are decoded first.
        case decode
    }

    /// The coding that the client gets; with `passThrough` the upstream's own, or identity if Dictum does not
    /// implement it.
    package let coding: ContentCoding
    /// The reason why no dictionary was used, or one of the two of deltas.
    package let reason: Reason
    package let upstreamCodingHandling: UpstreamHandling

    package init(coding: ContentCoding, reason: Reason, upstreamCodingHandling: UpstreamHandling = .none) {
        self.coding = coding
        self.reason = reason
        self.upstreamCodingHandling = upstreamCodingHandling
    }
}

package enum DictionaryLookUp: Equatable, Sendable {
    /// The request advertises none.
    case noneOffered
    /// No dictionary with that digest may be used for this request.
    case unknown
    /// The dictionary is known, but its bytes are not in memory.
    case cold
    /// The dictionary is ready; `DictionaryFit` tells if it prefers dcb.
    case found(prefersDcb: Bool)
    /// The built dictionary of the route is ready. It has only pieces of a response, which dcb names in fewer bytes.
    case built
}
