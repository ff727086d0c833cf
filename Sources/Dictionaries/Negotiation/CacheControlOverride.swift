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
    /// What an answer says of itself beats the setting: one that is somebody's own, must not be stored or changed, or sets
    /// a cookie keeps what the upstream said. POST is left alone, since a life makes its answer one for later GETs.
    package func applies(request: RequestFacts, response: ResponseFacts, policy: RoutePolicy) -> Bool {
        guard policy.areDictionariesOn, policy.hasDictionary else { return false }
        guard request.method == .get || request.method == .head else { return false }
        guard response.status == 200 || response.status == 304 else { return false }
        let own = response.cacheControl
        guard !own.noStore, !own.noTransform, response.setCookieNames.isEmpty else { return false }
        switch policy.scope {
        case .private: return directives.isPrivate
        case .public:
            return !Personal.isPersonal(request: request, response: response, policy: policy.personal)
        }
    }
}
