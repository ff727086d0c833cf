/// Who may use a response as a dictionary.
package enum Audience: Equatable, Sendable {
    /// Everybody: the response, or the route's own `cache_control`, says `public` or `s-maxage`.
    case everybody
    /// Whoever was given it, by its id: nothing tells that it is somebody's own, and nothing that it is not.
    case holders
    /// Whoever was given it, by its id; it is somebody's own, which bounds where it is kept and what it is used for.
    case person

    /// The audience of a response.
    package static func of(
        request: RequestFacts, response: ResponseFacts, policy: RoutePolicy
    ) -> Audience {
        // A body that should not be stored is kept as carefully as a personal one, where it is kept at all.
        if policy.scope == .private || response.cacheControl.noStore { return .person }
        if Personal.isPersonal(request: request, response: response, policy: policy.personal) {
            return .person
        }
        let sent = response.sentCacheControl
        let isShared = sent.permitsSharing || response.cacheControl.permitsSharing
        return isShared && !sent.isPrivate ? .everybody : .holders
    }
}
