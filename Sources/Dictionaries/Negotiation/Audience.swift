/// The clients that may use a response as a dictionary.
///
/// It decides on the `ChainKey.Scope` of the version. The scope has the same name, but on a private route it is `private`,
/// with the client's identity.
package enum Audience: Equatable, Sendable {
    /// All clients: the response, or the route's own `cache_control`, says `public` or `s-maxage`.
    case `public`
    /// Clients that were given it, by its id; nothing says that everybody may have it, and it is not personal.
    case unlisted
    /// Clients that were given it, by its id; the response is personal, which bounds its storage and its use.
    case personal

    package static func of(request: RequestFacts, response: ResponseFacts, policy: RoutePolicy) -> Audience {
        // A body that should not be stored is kept as carefully as a personal one, if it is kept at all.
        if policy.scope == .private || response.cacheControl.noStore { return .personal }
        if Personal.isPersonal(request: request, response: response, policy: policy.personal) {
            return .personal
        }
        let sent = response.sentCacheControl
        let isShared = sent.permitsSharing || response.cacheControl.permitsSharing
        return isShared && !sent.isPrivate ? .public : .unlisted
    }
}
