/// The Cache-Control that a route sends in place of the upstream's: the setting `cache_control`.
package struct CacheControlOverride: Sendable {
    /// The field's value.
    package let value: String
    /// What it says.
    package let directives: CacheControl

    /// Takes a value that is well formed.
    package init(_ value: String) {
        self.value = value
        directives = CacheControl([value])
    }

    /// Whether it goes on this answer, by the last sentence of the contract's paragraph on caches.
    ///
    /// What a response says of itself beats the setting: one that must not be stored or changed keeps what the upstream
    /// said, and so does one that is somebody's own or sets a cookie, unless the setting says `private` itself. POST is
    /// left alone, since a life makes its response one for later GETs.
    package func applies(request: RequestFacts, response: ResponseFacts, policy: RoutePolicy) -> Bool {
        guard policy.areDictionariesOn, policy.hasDictionary else { return false }
        guard request.method == .get || request.method == .head else { return false }
        guard response.status == 200 || response.status == 304 else { return false }
        let own = response.cacheControl
        guard !own.noTransform, !own.noStore || policy.storesDespiteNoStore && directives.isPrivate else {
            return false
        }
        if directives.isPrivate, policy.scope == .private || policy.personalUse == .capability { return true }
        return policy.scope == .public && response.setCookieNames.isEmpty
            && !Personal.isPersonal(request: request, response: response, policy: policy.personal)
    }
}
