internal import Dictionaries
internal import HTTP
internal import Storage

// MARK: - The client's identity on a private route

extension Exchange {
    /// Determines the user of the request, by its own fields or by those of the upstream's response.
    func identify(by response: Headers? = nil) {
        if let tag = identityTag(on: route, response: response) { entitlement.identify(as: tag) }
    }

    /// Returns the tag of the request's user; nil if the route has none, or the fields do not tell.
    func identityTag(on route: Route, response: Headers?) -> IdentityTag? {
        guard let identity = route.identity, let keys = context.store.keys,
            let authority = resource.authority
        else { return nil }
        // The upstream decides by the fields that it gets.
        var headers = request.headers
        headers.removeConnectionFields()
        return identity.values(request: headers, response: response).flatMap {
            keys.identityTag(authority: authority, items: $0)
        }
    }

    /// Takes the identity that the upstream gives out of its response: no client ever gets it.
    ///
    /// Only now is it known which dictionaries the client may use.
    func takeIdentity(from headers: inout Headers) {
        if route.policy.scope == .private, !route.identityFields.isEmpty {
            identify(by: headers)
            if case .none = dictionary { findDictionary() }
        }
        hideIdentity(in: &headers)
    }

    /// Removes the same fields from an interim head or from trailers, which do not identify the user.
    func hideIdentity(in headers: inout Headers) {
        let names = route.identityFields
        guard !names.isEmpty else { return }
        headers.removeAll { names.contains($0) }
        headers.removeTrailerNames { names.contains($0) }
    }

    // MARK: The upstream logs a user out

    /// Forgets what private routes keep for the user of the request, if the response tells its client to forget.
    ///
    /// The user is known by the request's fields, on every private route of the host: a path for logging out is seldom on
    /// one of them.
    func heedClearSiteData(_ headers: Headers) {
        guard headers.contains(.clearSiteData),
            ClearSiteData.endsDictionaries(headers.values(.clearSiteData))
        else { return }
        context.forget(context.routes.privateRoutes.compactMap { identityTag(on: $0, response: headers) })
    }
}
