internal import Dictionaries
internal import HTTP
internal import Synchronization

/// One route, ready to decide: its pattern and everything that holds for the requests it matches.
///
/// A class, so that a request holds one reference and not a copy of all its lists.
final class Route: Sendable {
    /// Its place in the counters; nil for requests that no route matches.
    let index: Int?
    let match: RouteMatch
    /// The match as it was written.
    let text: String
    /// How dictionaries are used; nil where they are off.
    let dictionary: DictionaryPolicy?
    /// Whether caches on the way may store its deltas; nil where dictionaries are off, so that answers do not vary
    /// by them.
    let sharedCaches: DictionaryPolicy.SharedCaches?
    /// Which dictionaries of other paths its documents announce.
    let announcement: Announcement
    /// How offers are delivered; nil where dictionaries are off.
    let delivery: DictionaryPolicy.Delivery?
    /// The Cache-Control that answers carry in place of the upstream's, if any.
    let cacheControl: CacheControlOverride?
    /// What tells users apart; nil on a public route.
    let identity: Identity?
    /// Whether the upstream is asked if a stored answer still holds.
    let revalidates: Bool
    /// What the pure decisions need to know of it.
    let policy: RoutePolicy
    /// The well-known fields that are not personal: of these no name needs to be compared.
    let impersonalFields: HeaderNameSet
    /// Whether a delta of this route was not exact; until a reload makes another object.
    private let isDistrusted = Atomic<Bool>(false)
    /// What the store needs to know of it.
    let admission: AdmissionPolicy

    private let unkeptWarnedAt = Atomic<Int>(-RouteReminders.seconds)
    private let hintedAt = Atomic<Int>(-RouteReminders.seconds)

    init(index: Int?, _ route: RouteConfiguration, in configuration: Configuration) {
        self.index = index
        match = route.match
        text = route.text
        dictionary = route.dictionary
        let policy = configuration.policy(of: route)
        self.policy = policy
        impersonalFields = .wellKnown { !policy.personal.matches(fieldName: $0) }
        delivery = route.dictionary?.delivery
        announcement = route.announcementInUse
        cacheControl = route.dictionary?.cacheControl.map(CacheControlOverride.init)
        sharedCaches = route.dictionary?.sharedCaches
        let personal = policy.personal
        identity = route.dictionary.flatMap { dictionary in
            guard dictionary.scope == .private else { return nil }
            return Identity(
                dictionary.identity, ignoresOtherCookies: dictionary.cookiesIgnored,
                ignored: personal.ignoredCookies)
        }
        revalidates =
            route.dictionary?.revalidate == true && policy.scope == .public && policy.areDictionariesOn
        admission = route.admission
    }

    /// The `match` to send with an answer; nil where dictionaries are off or it cannot be expressed.
    func matchValue(path: String, query: String?) -> String? {
        dictionary?.covers.matchValue(
            forPath: path, query: query, route: match.first(path: path, query: query))
    }

    /// Whether this route may use and offer dictionaries at all.
    var usesDictionaries: Bool { policy.areDictionariesOn && policy.hasDictionary }

    /// What the pages at such paths have in common, as far as the route says: the match of their chain.
    func pageMatch(path: String, query: String?) -> String {
        matchValue(path: path, query: query) ?? text
    }

    /// Whether it is time to say again that clients do not keep what this route offers: once an hour.
    ///
    /// `reminders` know when it was said before the last reload; they are asked once an hour as well.
    func shouldWarnOfUnkept(now: Int, _ reminders: RouteReminders) -> Bool {
        isDue(since: unkeptWarnedAt, now: now, reminders)
    }

    /// Whether it is time to say again what keeps responses from deltas: once an hour, as above.
    func shouldHint(now: Int, _ reminders: RouteReminders) -> Bool {
        isDue(since: hintedAt, now: now, reminders)
    }

    private func isDue(since said: borrowing Atomic<Int>, now: Int, _ reminders: RouteReminders) -> Bool {
        let last = said.load(ordering: .relaxed)
        guard now - last >= RouteReminders.seconds else { return false }
        return said.compareExchange(expected: last, desired: now, ordering: .relaxed).exchanged
            && reminders.isDue(text, now: now)
    }

    /// Why no dictionary may be used or offered here for now.
    var dictionarySwitch: Reason? { isDistrusted.load(ordering: .relaxed) ? .verifyFailed : nil }

    /// Turns the use and the offer of dictionaries off; says whether they were on.
    func distrust() -> Bool { !isDistrusted.exchange(true, ordering: .relaxed) }
}

/// The routes in the order of the configuration, of which the first that matches counts.
struct RouteTable: Sendable {
    private let routes: [Route]
    private let matches: PatternIndex
    /// The place of the route of each pattern.
    private let places: [Int]
    private let unmatched: Route
    /// Whether a route's documents announce dictionaries of others.
    let announces: Bool

    init(_ configuration: Configuration, names: RouteNames) {
        routes = configuration.routes.map {
            Route(index: names.place(of: $0.text), $0, in: configuration)
        }
        matches = PatternIndex(routes.flatMap(\.match.patterns))
        places = routes.enumerated().flatMap { place, route in
            Array(repeating: place, count: route.match.patterns.count)
        }
        var none = RouteConfiguration.implied
        none.dictionary = nil
        none.announcement = .off
        unmatched = Route(index: nil, none, in: configuration)
        announces = routes.contains { $0.announcement != .off }
    }

    /// The routes with dictionaries of one user each, or of personal responses.
    var withPersonal: [Route] {
        routes.filter { $0.policy.scope == .private || $0.policy.personalUse == .capability }
    }

    /// The route of the URL that a version is from.
    func route(of version: Dictionaries.Version) -> Route {
        let parts = version.url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        return route(path: String(parts[0]), query: parts.count > 1 ? String(parts[1]) : nil)
    }

    /// Whether bodies of a route may have URLs of their own.
    func mayName(_ route: Route) -> Bool {
        route.usesDictionaries && route.policy.scope == .public && (announces || route.delivery != .inBand)
    }

    /// The route of a request; one without dictionaries where none matches.
    func route(path: String, query: String?) -> Route {
        matches.first(path: path, query: query).map { routes[places[$0]] } ?? unmatched
    }
}
