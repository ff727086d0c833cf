package import Dictionaries
internal import Storage

extension Configuration {
    /// True if a route has dictionaries, whose ids are made with the store's key.
    package var needsKeys: Bool { routes.contains { $0.dictionary != nil } }

    package var hasPrivateRoutes: Bool { routes.contains { $0.dictionary?.scope == .private } }

    /// Returns the rules for personal requests on a route, or outside all routes; keep the result, since each
    /// call rebuilds it.
    package func personal(on route: RouteConfiguration?) -> PersonalPolicy {
        PersonalPolicy(
            fieldPatterns: personalFields, queryNames: personalQuery,
            cookiesIgnored: route?.dictionary?.cookiesIgnored ?? false,
            // Each item was validated when it was read.
            ignoredCookies: IgnoredCookies(ignoreCookies) ?? IgnoredCookies(),
            ignoredSetCookies: route?.dictionary?.ignoreSetCookie ?? [])
    }

    /// Returns the facts about a route that decisions depend on; keep the result, since each call rebuilds it.
    package func policy(of route: RouteConfiguration) -> RoutePolicy {
        RoutePolicy(
            areDictionariesOn: dictionariesOn, hasDictionary: route.dictionary != nil,
            methods: route.dictionary?.methods ?? DictionaryPolicy().methods,
            scope: route.dictionary?.scope ?? .public, types: compression.types,
            bodyBytesMin: compression.minSize,
            bodyBytesMax: route.dictionary?.maxBody ?? DictionaryPolicy().maxBody,
            personal: personal(on: route), personalUse: route.dictionary?.personal ?? personal,
            storesDespiteNoStore: route.dictionary?.storeDespite.contains(.noStore) ?? false)
    }
}

extension RouteConfiguration {
    var admission: AdmissionPolicy {
        let dictionary = dictionary ?? DictionaryPolicy()
        return AdmissionPolicy(
            versions: dictionary.scope == .private ? dictionary.privateVersions : .max,
            maxAge: dictionary.maxAgeSeconds, startsInProbation: isImplied)
    }
}
