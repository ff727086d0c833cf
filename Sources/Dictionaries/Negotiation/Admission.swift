/// The rules for a response that may become a version of its chain; see the article Rules.
package enum Admission {
    /// Returns the reason why the response must not become a version; nil if it may.
    ///
    /// The body need not have come: the caller bounds one of unknown length by `bodyBytesMax`.
    package static func obstacle(
        request: RequestFacts, response: ResponseFacts, policy: RoutePolicy
    ) -> Reason? {
        if !policy.areDictionariesOn { return .switchedOff }
        if !policy.hasDictionary { return .routeOff }
        if let reason = request.dictionarySwitch { return reason }
        if request.method != .get { return .ineligibleMethod }
        if response.status != 200 { return .ineligibleStatus }
        if response.hasContentRange { return .range }
        if !request.isPathNormal { return .pathNotNormal }
        if request.noStore || response.cacheControl.noStore && !policy.storesDespiteNoStore {
            return .noStore
        }
        if response.varyNames.contains("*") { return .varyAny }
        if response.coding == .foreign { return .codedUpstream }
        if MediaTypes.isEventStream(response.contentType) { return .eventStream }
        if !policy.types.contains(response.contentType) { return .ineligibleType }
        if let bytes = response.bodyBytes,
            bytes < max(1, policy.bodyBytesMin) || bytes > policy.bodyBytesMax
        {
            return .ineligibleSize
        }
        return policy.scopeObstacle(request: request, response: response)
    }
}

/// The rules for a response that may be coded at all; see the article Rules.
package enum Eligibility {
    /// Returns the reason why the response must not be coded; nil if it may be.
    package static func obstacle(
        request: RequestFacts, response: ResponseFacts, policy: RoutePolicy
    ) -> Reason? {
        if let reason = transformObstacle(request: request, response: response) { return reason }
        if !policy.types.contains(response.contentType) {
            return MediaTypes.isEventStream(response.contentType) ? .eventStream : .ineligibleType
        }
        if let bytes = response.bodyBytes, bytes < max(1, policy.bodyBytesMin) { return .ineligibleSize }
        return nil
    }

    /// Returns the reason why no byte of the response may change, not even by decoding it; nil if it may.
    static func transformObstacle(request: RequestFacts, response: ResponseFacts) -> Reason? {
        // The response to HEAD has the fields of the response to GET.
        if request.method == .other { return .ineligibleMethod }
        if request.hasRange || response.hasContentRange { return .range }
        if response.status != 200 { return .ineligibleStatus }
        // RFC 9111 sections 5.2.1.6 and 5.2.2.6.
        if request.noTransform || response.cacheControl.noTransform { return .noTransform }
        if response.coding == .foreign { return .codedUpstream }
        return nil
    }
}

/// The rules for offering a response as a dictionary; see the article Rules.
package enum Offer {
    /// Returns the reason why the response carries no Use-As-Dictionary of Dictum's; nil if it may, once its body
    /// is in the chain.
    ///
    /// For a 304 the facts are those of the 304, with the status 200 and the type of the stored response.
    package static func obstacle(
        request: RequestFacts, response: ResponseFacts, policy: RoutePolicy
    ) -> Reason? {
        if response.hasUseAsDictionary { return .offeredUpstream }
        if let reason = policy.dictionaryObstacle(request: request, response: response) { return reason }
        return Admission.obstacle(request: request, response: response, policy: policy)
    }

    /// Returns true if the response of a dictionary's own URL may carry Use-As-Dictionary: its body was admitted
    /// before.
    package static func mayCarry(
        request: RequestFacts, response: ResponseFacts, policy: RoutePolicy
    ) -> Bool {
        policy.dictionaryObstacle(request: request, response: response) == nil
    }
}

/// The form in which a dictionary is offered: the setting `delivery`.
package enum OfferForm: Equatable, Sendable {
    /// Use-As-Dictionary on the response itself.
    case inBand
    /// A Link to a URL of Dictum's own, with its own lifetime.
    case link

    /// The shortest use that makes the field worth its bytes.
    package static let usableSecondsMin: Int64 = 60

    /// Returns the form for `delivery: auto`.
    ///
    /// The form is a Link for a document that a browser would drop within a minute, if the response may be shared.
    /// Everything else gets the field, since browsers follow a Link on documents only. `freshness` is that of the
    /// response as the client gets it. The `ttl` member does not count, since browsers ignore it.
    package static func automatic(
        freshness: Freshness, cacheControl: CacheControl, isDocument: Bool
    ) -> OfferForm {
        guard isDocument, cacheControl.permitsSharing else { return .inBand }
        let life = freshness.lifetimeSeconds + freshness.staleWhileRevalidateSeconds
        return life < usableSecondsMin ? .link : .inBand
    }
}
