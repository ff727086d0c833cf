package import Dictionaries

extension Configuration {
    /// Whether a route has dictionaries, for whose ids the store needs its key.
    package var needsKeys: Bool { routes.contains { $0.dictionary != nil } }

    /// Whether a route has dictionaries of one user each.
    package var hasPrivateRoutes: Bool { routes.contains { $0.dictionary?.scope == .private } }

    /// What makes a request personal on a route, or on none; made anew each time, so keep it.
    package func personal(on route: RouteConfiguration?) -> PersonalPolicy {
        PersonalPolicy(
            fieldPatterns: personalFields, queryNames: personalQuery,
            cookiesIgnored: route?.dictionary?.cookiesIgnored ?? false,
            // Each item was looked at when it was read.
            ignoredCookies: IgnoredCookies(ignoreCookies) ?? IgnoredCookies(),
            ignoredSetCookies: route?.dictionary?.ignoreSetCookie ?? [])
    }

    /// What the decisions heed on a route; made anew each time, so keep it.
    package func policy(of route: RouteConfiguration) -> RoutePolicy {
        RoutePolicy(
            areDictionariesOn: dictionariesOn, hasDictionary: route.dictionary != nil,
            scope: route.dictionary?.scope ?? .public,
            types: compression.types,
            bodyBytesMin: compression.minSize,
            bodyBytesMax: route.dictionary?.maxBody ?? DictionaryPolicy().maxBody,
            personal: personal(on: route), personalUse: route.dictionary?.personal ?? personal,
            storesDespiteNoStore: route.dictionary?.storeDespite.contains(.noStore) ?? false)
    }
}

extension RouteConfiguration {
    /// What the store heeds when an answer of the route becomes a version.
    var admission: AdmissionPolicy {
        let dictionary = dictionary ?? DictionaryPolicy()
        return AdmissionPolicy(
            versions: dictionary.scope == .private ? dictionary.privateVersions : dictionary.versions,
            maxAge: dictionary.maxAge / 1000, startsInProbation: isImplied)
    }
}
