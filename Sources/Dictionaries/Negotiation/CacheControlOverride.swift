/// The Cache-Control that a route sends instead of the upstream's: the setting `cache_control`.
package struct CacheControlOverride: Sendable {
    /// The value of the field.
    package let value: String
    /// The directives of the value.
    package let directives: CacheControl

    /// Takes a value that `CacheControl.isWellFormed` accepts.
    package init(_ value: String) {
        self.value = value
        directives = CacheControl([value])
    }

    /// Returns true if the value replaces the Cache-Control of this response.
    ///
    /// The response's own fields beat the setting. A response that must not be stored or changed keeps the
    /// upstream's Cache-Control. So does one that is personal or sets a cookie, unless the setting says `private`.
    /// A response to POST keeps it too, since a lifetime would allow its use for later GETs.
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
