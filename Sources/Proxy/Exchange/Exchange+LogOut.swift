internal import Dictionaries
internal import HTTP
internal import Primitives
internal import Storage

// MARK: - The upstream logs a user out

extension Exchange {
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
