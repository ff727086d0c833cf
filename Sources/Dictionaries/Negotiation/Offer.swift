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

    /// Returns true if a response may carry Use-As-Dictionary, as far as its admission does not decide: the caller has
    /// asked `Admission`, or the body was admitted before.
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
