/// How a dictionary is offered: the setting `delivery`.
package enum OfferForm: Equatable, Sendable {
    /// Use-As-Dictionary on the answer itself.
    case inBand
    /// A Link to a URL of ours with a life of its own.
    case link

    /// The shortest use that makes the field worth its bytes.
    package static let usableSecondsMin: Int64 = 60

    /// The form for `delivery: auto`.
    ///
    /// A Link for a document that a client would drop within a minute, if the response says that it may be shared, the route
    /// is written, and nothing in it makes the response last longer (`ttl`, `cache_control`). Browsers follow such a Link on
    /// documents only, so that everything else has the field.
    package static func automatic(
        freshness: Freshness, cacheControl: CacheControl, isDocument: Bool, routePromisesLife: Bool,
        isRouteWritten: Bool
    ) -> OfferForm {
        guard isDocument else { return .inBand }
        let life = freshness.lifetimeSeconds + freshness.staleWhileRevalidateSeconds
        let isShort = life < usableSecondsMin
        return isShort && !routePromisesLife && isRouteWritten && cacheControl.permitsSharing
            ? .link : .inBand
    }
}
