/// An obstacle to deltas on a route that its operator can remove; the closed list of hints.
package enum DeltaHint: Equatable, Sendable {
    /// Only `no-store` keeps the response from becoming a dictionary.
    case noStore
    /// The response varies on a field with nearly as many values as there are clients.
    case variesWidely(field: String)
    /// The responses have so many variants that clients share hardly any.
    case manyVariants(fields: [String])

    /// The request fields with so many values that clients hardly share variants by them.
    private static let wideFields: Set<String> = [
        "user-agent", "referer", "sec-ch-ua", "x-forwarded-for", "x-real-ip", "x-request-id",
    ]

    /// Returns the hint for a response; nil if there is none.
    package static func find(
        request: RequestFacts, response: ResponseFacts, policy: RoutePolicy
    ) -> DeltaHint? {
        guard policy.areDictionariesOn, policy.hasDictionary, request.method == .get, response.status == 200
        else { return nil }
        if response.cacheControl.noStore, !request.noStore,
            Admission.obstacle(request: request, response: response, policy: policy) == .noStore
        {
            var storable = response
            storable.cacheControl.noStore = false
            let isOnlyThat =
                Admission.obstacle(request: request, response: storable, policy: policy) == nil
            return isOnlyThat ? .noStore : nil
        }
        return wideField(of: response.varyNames).map { .variesWidely(field: $0) }
    }

    /// Returns the first of the lower-case names of a Vary that has nearly as many values as there are clients.
    package static func wideField(of names: [String]) -> String? { names.first(where: wideFields.contains) }

    /// Returns the hint as text for the operator; `route` is the route's match.
    package func text(route: String) -> String {
        switch self {
        case .noStore:
            """
            responses of route \(route) say no-store and become no dictionaries: if a framework puts it on everything \
            (Spring Security's default), remove it there, or set store_despite: [no-store] on routes whose bodies may be kept
            """
        case .variesWidely(let field):
            """
            responses of route \(route) vary on \(field), so that each client has a variant of its own: if the body does not \
            depend on it, remove it from the upstream's Vary
            """
        case .manyVariants(let fields):
            """
            responses of route \(route) came in very many variants by \(fields.joined(separator: " and ")), each with versions of \
            its own: normalise these fields before Dictum, or remove from the upstream's Vary \
            those that the body does not depend on
            """
        }
    }
}

/// The reason why no browser keeps a response as a dictionary although the response offers itself: the closed list
/// of log and metrics.
///
/// The rules are those observed in Chromium, which keeps a response that is fresh, or stale but usable, when it
/// arrives.
package enum UnkeptReason: String, CaseIterable, Sendable {
    case noStore = "no-store"
    case noCache = "no-cache"
    /// `Vary: *`.
    case varyAny = "vary-any"
    /// Its life is over when it arrives: `max-age=0` without `stale-while-revalidate`, or an Expires or Age that
    /// says so.
    case expired
    /// Only `s-maxage` gives it a life, and only in shared caches.
    case sharedOnly = "s-maxage-only"
    /// It has an ETag, which only validates, and no lifetime.
    case etagOnly = "etag-only"
    /// It has no lifetime: neither in Cache-Control nor Expires nor Last-Modified.
    case noLifetime = "no-lifetime"
}
