/// The Cache-Control that a route sends instead of the upstream's: the setting `cache_control`.
package struct CacheControlOverride: Sendable {
    package let value: String
    package let directives: CacheControl

    /// Takes a value that `CacheControl.isWellFormed` accepts.
    package init(_ value: String) {
        self.value = value
        directives = CacheControl([value])
    }

    /// Returns true if the value replaces the Cache-Control of this response.
    ///
    /// The response's own fields beat the setting. A response that must not be stored or changed keeps the
    /// upstream's Cache-Control. So does one that is personal or sets a cookie, unless the setting says `private`. Here
    /// `must-revalidate` and `immutable` make no response less personal.
    /// A response to QUERY or POST gets it where the route has versions of that method. One to POST with a
    /// Content-Location keeps the upstream's, since a lifetime would allow its use for later GETs (RFC 9110 section
    /// 9.3.3).
    package func applies(request: RequestFacts, response: ResponseFacts, policy: RoutePolicy) -> Bool {
        guard policy.areDictionariesOn, policy.hasDictionary else { return false }
        switch request.method {
        case .get, .head: break
        case .post where response.contentLocation != .none: return false
        case .query, .post: guard policy.methods.contains(request.method) else { return false }
        case .other: return false
        }
        guard response.status == 200 || response.status == 304 else { return false }
        let own = response.cacheControl
        guard !own.noTransform, !own.noStore || policy.storesDespiteNoStore && directives.isPrivate else {
            return false
        }
        if directives.isPrivate, policy.scope == .private || policy.personalUse == .capability { return true }
        // The client gets neither of these, so neither lifts what is personal in the request.
        var kept = response
        (kept.cacheControl.permitsAuthorization, kept.cacheControl.immutable) = (false, false)
        return policy.scope == .public && response.setCookieNames.isEmpty
            && !Personal.isPersonal(request: request, response: kept, policy: policy.personal)
    }
}
