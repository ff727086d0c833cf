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
    /// The field, unless a client would drop the answer within a minute, nothing in the route makes it keep it longer
    /// (`ttl`, `cache_control`), the route is written, and the answer says that it may be shared.
    package static func automatic(
        freshness: Freshness, cacheControl: CacheControl, routePromisesLife: Bool, isRouteWritten: Bool
    ) -> OfferForm {
        let life = freshness.lifetimeSeconds + freshness.staleWhileRevalidateSeconds
        let isShort = life < usableSecondsMin
        return isShort && !routePromisesLife && isRouteWritten && cacheControl.permitsSharing
            ? .link : .inBand
    }
}
