/// What stands between the responses of a route and deltas, and its operator can change: the closed list of hints.
package enum DeltaHint: Equatable, Sendable {
    /// Nothing but `no-store` keeps the response from becoming a dictionary.
    case noStore
    /// The response varies on a field with nearly as many values as there are clients.
    case variesWidely(field: String)
    /// So many variants of its responses have come that hardly any is shared.
    case manyVariants(fields: [String])

    /// Fields with so many values that variants by them are hardly shared.
    private static let wideFields: Set<String> = [
        "user-agent", "referer", "sec-ch-ua", "x-forwarded-for", "x-real-ip", "x-request-id",
    ]

    /// The hint for a response; nil where there is nothing to say.
    package static func find(
        request: RequestFacts, response: ResponseFacts, policy: RoutePolicy
    ) -> DeltaHint? {
        guard policy.areDictionariesOn, policy.hasDictionary, request.method == .get, response.status == 200
        else {
            return nil
        }
        if response.cacheControl.noStore, !request.noStore,
            Admission.evaluate(request: request, response: response, policy: policy).reason == .noStore
        {
            var storable = response
            storable.cacheControl.noStore = false
            let isOnlyThat =
                Admission.evaluate(request: request, response: storable, policy: policy).reason == nil
            return isOnlyThat ? .noStore : nil
        }
        return wideField(of: response.varyNames).map { .variesWidely(field: $0) }
    }

    /// The first of the names of a Vary, in lower case, that has nearly as many values as there are clients.
    package static func wideField(of names: [String]) -> String? { names.first(where: wideFields.contains) }

    /// What an operator reads of a route; `route` is its match.
    package func text(route: String) -> String {
        switch self {
        case .noStore:
            """
            responses of route \(route) say no-store and become no dictionaries: if a framework puts it on everything \
            (Spring Security's default), remove it there, or set store_despite: [no-store] on routes whose bodies may be kept
            """
        case .variesWidely(let field):
            """
            responses of route \(route) vary on \(field), so that each client has a variant of its own: if the body does not \
            depend on it, remove it from the upstream's Vary
            """
        case .manyVariants(let fields):
            """
            responses of route \(route) came in very many variants by \(fields.joined(separator: " and ")), each with versions of \
            its own within the route's `versions`: normalise these fields before Dictum, or remove from the upstream's Vary \
            those that the body does not depend on
            """
        }
    }
}
