internal import Dictionaries
internal import HTTP

// MARK: - Whose the request is, on a private route

extension Exchange {
    /// Finds out whose the request is, as far as the request says, or with what the upstream says of it.
    func identify(by response: Headers? = nil) {
        guard let identity = route.identity, let keys = context.store.keys,
            let authority
        else { return }
        // The upstream goes by what it gets.
        var headers = request.headers
        headers.removeConnectionFields()
        guard let items = identity.values(request: headers, response: response),
            let tag = keys.identityTag(authority: authority, items: items)
        else { return }
        scope = .private(tag)
        facts.hasWholeIdentity = true
    }

    /// Takes the identity that the upstream gives from its answer: the client never gets it, whatever the answer is.
    ///
    /// Only now is it known which dictionaries the client may use.
    func takeIdentity(from headers: inout Headers) {
        // Asked first, as it costs the requests of public routes nothing.
        guard route.policy.scope == .private, let names = route.identity?.responseNames, !names.isEmpty
        else { return }
        identify(by: headers)
        hideIdentity(in: &headers)
        if case .none = dictionary { findDictionary() }
    }

    /// Takes the same fields from a head or from trailers that say nothing of whose the answer is.
    func hideIdentity(in headers: inout Headers) {
        guard route.policy.scope == .private, let names = route.identity?.responseNames, !names.isEmpty
        else { return }
        headers.removeAll { names.contains($0) }
    }
}
