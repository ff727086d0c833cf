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
    /// A Link for a document that a browser would drop within a minute, if the response says that it may be shared. `freshness`
    /// is that of the response as the client gets it. Browsers follow a Link on documents only, so that everything else has
    /// the field. The `ttl` member does not count: browsers ignore it.
    package static func automatic(
        freshness: Freshness, cacheControl: CacheControl, isDocument: Bool
    ) -> OfferForm {
        guard isDocument, cacheControl.permitsSharing else { return .inBand }
        let life = freshness.lifetimeSeconds + freshness.staleWhileRevalidateSeconds
        return life < usableSecondsMin ? .link : .inBand
    }
}
