/// The clients that may use a response as a dictionary.
package enum Audience: Equatable, Sendable {
    /// All clients: the response, or the route's own `cache_control`, says `public` or `s-maxage`.
    case everybody
    /// Clients that were given it, by its id: nothing shows that the response is personal, and nothing that it is
    /// not.
    case holders
    /// Clients that were given it, by its id; the response is personal, which bounds its storage and its use.
    case person

    /// Returns the audience of a response.
    package static func of(
        request: RequestFacts, response: ResponseFacts, policy: RoutePolicy
    ) -> Audience {
        // A body that should not be stored is kept as carefully as a personal one, if it is kept at all.
        if policy.scope == .private || response.cacheControl.noStore { return .person }
        if Personal.isPersonal(request: request, response: response, policy: policy.personal) {
            return .person
        }
        let sent = response.sentCacheControl
        let isShared = sent.permitsSharing || response.cacheControl.permitsSharing
        return isShared && !sent.isPrivate ? .everybody : .holders
    }
}
