internal import Dictionaries
internal import Primitives

/// The response to `/routes`.
struct RouteReports: Encodable, Sendable {
    /// Seconds since 1970.
    let time: Int
    let routes: [RouteReport]

    /// Makes the reports of all configured routes, and of others that have had requests.
    init(_ snapshot: AdminStatus.Snapshot) {
        let context = snapshot.context
        let configured = context.configuration.routes
        let byText = Dictionary(configured.map { ($0.text, $0) }) { first, _ in first }
        let totals = SavingsReport.Live.byRoute(snapshot.samples, context.gain.totals)
        time = Int(SystemClock.unixSeconds)
        let names = context.routeNames
        var seen: Set<String> = []
        let all = (configured.map(\.text) + names.texts + ["none"]).filter { seen.insert($0).inserted }
        routes = all.compactMap { text in
            let route = byText[text]
            let live = totals[text]
            guard route != nil || live != nil else { return nil }
            let position = names.position(of: text)
            return RouteReport(
                route: text, live ?? .init(), configured: route != nil,
                dictionaries: Self.dictionaries(of: route, in: context),
                learned: context.routes.learners.first { $0.text == text }.map(context.learned.rows),
                slowest: snapshot.slowest[text == "none" ? 0 : (position ?? -1) + 1])
        }
    }

    private static func dictionaries(
        of route: RouteConfiguration?, in context: ProxyContext
    ) -> RouteReport.Dictionaries {
        guard let route, route.dictionary != nil, context.configuration.dictionariesOn else { return .off }
        if context.routes.distrusted.contains(where: { $0.text == route.text }) { return .distrusted }
        return context.configuration.observes(route) ? .observe : .on
    }
}

/// The requests of one route since the start of the process.
struct RouteReport: Encodable, Sendable {
    enum Dictionaries: String, Encodable, Sendable {
        case on, off
        /// Nothing is sent differently, but it is measured what dictionaries would save.
        case observe
        /// Off after a delta that did not decode to its body.
        case distrusted
    }

    struct ReasonCount: Encodable, Sendable {
        let reason: String
        let requests: Int
    }

    /// The route's hosts and match; `none` for requests without a route.
    let route: String
    let configured: Bool
    let dictionaries: Dictionaries
    let requests: Int
    let deltas: Int
    let notModified: Int
    /// The share of deltas in all others; nil without any.
    let hitRate: Double?
    let codings: [String: Int]
    /// The reasons of all responses that are not deltas, the most frequent first.
    let reasons: [ReasonCount]
    let bytes: BodyBytes
    /// The responses over the route's built dictionary; nil without any.
    let built: SavingsReport.Built?
    let learned: [SavingsReport.Learned]?
    let slowestCodings: [SlowestCodings.Entry]

    init(
        route: String, _ live: SavingsReport.Live, configured: Bool, dictionaries: Dictionaries,
        learned: [SavingsReport.Learned]?, slowest: [SlowestCodings.Entry]
    ) {
        self.route = route
        self.configured = configured
        self.dictionaries = dictionaries
        bytes = BodyBytes(live)
        (built, self.learned) = (live.built, learned)
        (requests, deltas, codings) = (live.requests, live.deltas, live.codings)
        (notModified, hitRate) = (live.notModified, live.hitRate)
        reasons = live.reasons.map { ReasonCount(reason: $0, requests: $1) }
            .sorted { ($1.requests, $0.reason) < ($0.requests, $1.reason) }
        slowestCodings = slowest
    }
}

/// The bytes of response bodies, and what they would have been without dictionaries.
struct BodyBytes: Encodable, Sendable, Equatable {
    /// The basis of `plain`, from the best to the least.
    enum Basis: String, Encodable, Sendable, CaseIterable {
        /// No response was a delta, so nothing was saved.
        case asSent = "as-sent"
        /// Deltas count with the best coding without a dictionary, as their samples say (`Gain`).
        case sampled
        /// Deltas count with their uncompressed bodies, because there are no samples yet.
        case uncompressed
    }

    let body: Int
    let sent: Int
    let plain: Int
    let plainBasis: Basis
    /// `plain - sent`; negative if dictionaries cost more than they save.
    let saved: Int
    /// The half of the interval around `saved` that has the true value in 95 of 100 cases; nil without enough samples.
    let savedMargin: Int?
    /// The number of deltas that were compared with the best other coding.
    let samples: Int

    init(_ live: SavingsReport.Live) {
        body = live.bodyBytes
        sent = live.sentBytes
        samples = live.sampled.count
        let others = sent - live.deltaBytes
        if live.deltaBodyBytes == 0 {
            (plain, plainBasis, savedMargin) = (sent, .asSent, 0)
        } else if let plainBytes = live.deltaPlainBytes {
            (plain, plainBasis, savedMargin) = (others + plainBytes, .sampled, live.deltaPlainMargin)
        } else {
            (plain, plainBasis, savedMargin) = (others + live.deltaBodyBytes, .uncompressed, nil)
        }
        saved = plain - sent
    }

    /// Makes the sum; its basis is the least of all.
    init(_ parts: [BodyBytes]) {
        body = parts.reduce(0) { $0 + $1.body }
        sent = parts.reduce(0) { $0 + $1.sent }
        plain = parts.reduce(0) { $0 + $1.plain }
        plainBasis = Basis.allCases.last { basis in parts.contains { $0.plainBasis == basis } } ?? .asSent
        saved = plain - sent
        // The errors of different routes are independent of each other.
        let margins = parts.compactMap(\.savedMargin).map { Double($0) }
        savedMargin =
            margins.count == parts.count
            ? Int(margins.reduce(0) { $0 + $1 * $1 }.squareRoot()) : nil
        samples = parts.reduce(0) { $0 + $1.samples }
    }
}
