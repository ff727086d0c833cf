internal import Dictionaries
internal import HTTP
internal import Storage
internal import Synchronization

/// A route, prepared for decisions: its pattern and the settings of the requests that it matches.
///
/// A class, so that a request holds one reference instead of copies of many lists.
final class Route: Sendable {
    /// The position in the counters, or nil for requests that match no route.
    let index: Int?
    let match: RouteMatch
    let text: String
    let upstream: UpstreamGroup?
    let acceptEncoding: Configuration.Upstream.AcceptEncodingMode
    let prefix: PathPrefix?
    let requestEdits: FieldEdits?
    let responseEdits: FieldEdits?
    /// The settings that decide which resource of the upstream a URL stands for; empty if there are none.
    let source: String
    let requestBodyMax: Int
    let rateLimit: RateLimit?
    /// True if the route protects something: it has limits, changes to fields, a prefix, or an upstream of its own.
    let guards: Bool
    /// True if it guards, and not every path is its own, so that a spelling could pass it by.
    let guardsSomePaths: Bool
    /// The dictionary settings, or nil if dictionaries are off.
    let dictionary: DictionaryPolicy?
    /// The members that name an operation in a request's body, observed or live; nil if there are none.
    let operationKey: OperationKey?
    /// True if bodies of requests may be coded over dictionaries that were offered.
    let decodesRequests: Bool
    /// The rule for shared caches, or nil if dictionaries are off, so that responses do not vary by them.
    let sharedCaches: DictionaryPolicy.SharedCaches?
    /// The parameters that replace those of its responses' priorities, if any.
    let priority: Priority?
    let announcement: Announcement
    /// The way offers are delivered, or nil if dictionaries are off.
    let delivery: DictionaryPolicy.Delivery?
    /// The Cache-Control that replaces the upstream's, if any.
    let cacheControl: CacheControlOverride?
    /// The rule that tells users apart, observed or live; nil on a public route.
    let identity: ClientIdentity?
    /// True with `scope: private`, observed or live: the log, log-outs and purges heed it in both modes.
    var isPrivate: Bool { identity != nil }
    /// The fields of responses that identify the user, observed or live; no client gets them.
    let identityFields: [HeaderName]
    /// True if the proxy revalidates stored responses with the upstream.
    let revalidates: Bool
    /// The settings for the pure decisions of `Negotiation`.
    let policy: RoutePolicy
    /// The well-known fields that are not personal, so that their names need no comparison.
    let impersonalFields: HeaderNameSet
    /// True after an inexact delta, until a reload creates another route.
    private let isDistrusted = Atomic<Bool>(false)
    let admission: AdmissionPolicy
    /// True if the proxy learns the route's built dictionary.
    let learnsBuilt: Bool
    /// The route as it would be with dictionaries, if it is observed; nil otherwise.
    let shadow: Route?
    let reminders: RouteReminders

    init(
        index: Int?, _ route: RouteConfiguration, in configuration: Configuration,
        upstream: UpstreamGroup? = nil, shadow: Route? = nil, reminders: RouteReminders = RouteReminders()
    ) {
        self.index = index
        self.reminders = reminders
        self.shadow = shadow
        self.upstream = upstream
        acceptEncoding = upstream?.settings.acceptEncoding ?? .identity
        match = route.match
        text = route.text
        prefix = route.stripPrefix
        requestEdits = FieldEdits(route.headers.request)
        responseEdits = FieldEdits(route.headers.response)
        source = route.source
        requestBodyMax = route.limits.requestBody ?? configuration.limits.requestBody
        rateLimit = RateLimit(
            route.limits, of: route.text, ipv6Prefix: configuration.limits.client.ipv6Prefix)
        guards = route.guards
        guardsSomePaths = route.guards && !route.match.isEverything
        dictionary = route.dictionary
        operationKey =
            shadow?.operationKey ?? route.dictionary.flatMap { $0.keyMembers.isEmpty ? nil : $0.key }
        priority = route.priority
        decodesRequests =
            route.requests == .dictionary && route.dictionary != nil
            && configuration.dictionariesOn
        let policy = configuration.policy(of: route)
        self.policy = policy
        // The upstream does not get the edited ones as the client sent them, so they cannot make its response personal.
        impersonalFields = HeaderNameSet.wellKnown { !policy.personal.matches(fieldName: $0) }
            .adding(requestEdits?.names ?? [])
        delivery = route.dictionary?.delivery
        announcement = route.announcementInUse
        cacheControl = route.dictionary?.cacheControl.map(CacheControlOverride.init)
        sharedCaches = route.dictionary?.sharedCaches
        let personal = policy.personal
        let identity: ClientIdentity? = route.dictionary.flatMap { dictionary in
            guard dictionary.scope == .private else { return nil }
            return ClientIdentity(
                dictionary.identity, ignoresOtherCookies: dictionary.cookiesIgnored,
                ignored: personal.ignoredCookies)
        }
        self.identity = shadow?.identity ?? identity
        identityFields = self.identity?.responseNames ?? []
        revalidates =
            route.dictionary?.revalidate == true && policy.scope == .public && policy.areDictionariesOn
        admission = route.admission
        learnsBuilt = route.dictionary?.built.map { $0.body == nil } ?? false
    }

    /// Makes a route that sends nothing of dictionaries if it is observed.
    static func make(
        _ route: RouteConfiguration, _ names: RouteNames, in configuration: Configuration,
        upstream: UpstreamGroup?
    ) -> Route {
        let index = names.position(of: route.text)
        let reminders = index.map { names.reminders[$0] } ?? RouteReminders()
        let full = Route(index: index, route, in: configuration, upstream: upstream, reminders: reminders)
        guard configuration.observes(route) else { return full }
        return Route(
            index: index, route.withoutDictionary, in: configuration, upstream: upstream, shadow: full,
            reminders: reminders)
    }

    /// The route with its dictionaries, observed or live.
    var withDictionaries: Route { shadow ?? self }

    /// Returns the `match` of an offer, or nil if dictionaries are off or a pattern cannot express it.
    func matchValue(of url: PathAndQuery) -> String? {
        dictionary?.covers.matchValue(for: url, route: match.first(url))
    }

    /// The name of the upstream; empty for the one without a name.
    var upstreamName: String { upstream?.name ?? "" }

    /// Returns the chain of the route's built dictionary for an authority; nil if it has none.
    func builtChain(authority: String) -> ChainKey? {
        dictionary.flatMap { dictionary in
            dictionary.built.map {
                ChainKey(authority: authority, match: $0.match, matchDest: dictionary.matchDest)
            }
        }
    }

    /// Returns true if a version is the route's built dictionary, the present or a former one.
    func hasBuilt(_ version: Storage.Version) -> Bool {
        guard let built = dictionary?.built else { return false }
        let chain = version.chainKey
        return chain.scope == .public && chain.match == built.match && !version.isUpstreamMatch
    }

    var usesDictionaries: Bool { policy.areDictionariesOn && policy.hasDictionary }

    /// Returns the match that the pages at such paths share.
    func pageMatch(of url: PathAndQuery) -> String { matchValue(of: url) ?? text }

    /// The reason why dictionaries are off after an inexact delta, or nil.
    var dictionarySwitch: Reason? { isDistrusted.load(ordering: .relaxed) ? .verifyFailed : nil }

    /// Turns dictionaries off; returns true if they were on.
    func distrust() -> Bool { !isDistrusted.exchange(true, ordering: .relaxed) }
}
