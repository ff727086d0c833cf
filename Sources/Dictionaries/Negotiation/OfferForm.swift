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
