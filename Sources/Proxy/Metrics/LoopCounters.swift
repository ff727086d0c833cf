internal import Dictionaries
internal import HTTP

/// The counters of one loop: plain integers, because only their loop changes them.
///
/// Each metric is one property: its declaration holds its counts, and reflection lists all of them for a scrape, which asks
/// each loop for a copy and sums the samples.
struct LoopCounters: Sendable {
    // MARK: Responses

    var requests = LoopCounter(
        "dictum_requests_total", per: .route,
        labels: [
            MetricLabel("coding", ContentCoding.self),
            MetricLabel("reason", Reason.allCases.map(\.text) + ["none"]),
        ],
        isSparse: true, "Requests by the route's match, the response's coding and the reason for it.")
    var responses = LoopCounter(
        "dictum_responses_total", per: .route,
        labels: [MetricLabel("status", ["none", "1xx", "2xx", "3xx", "4xx", "5xx"])],
        "Responses by the route's match and the class of their status.")
    var protocols = LoopCounter(
        "dictum_requests_by_protocol_total",
        labels: [MetricLabel("protocol", HTTPVersion.allCases.map { "\($0.text)" })],
        "Requests by the version of HTTP that the client speaks.")
    var clients = LoopCounter(
        "dictum_requests_by_client_total",
        labels: [MetricLabel("client", ["browser", "other"]), MetricLabel("delta", ["yes", "no"])],
        "Requests by the kind of client, and by whether the response was a delta.")
    var bodyBytes = LoopCounter(
        "dictum_body_bytes_total", per: .route, labels: [MetricLabel("stage", ["before", "after"])],
        "Bytes of response bodies before and after coding.")
    var sentBodyBytes = LoopCounter(
        "dictum_sent_body_bytes_total", labels: [MetricLabel("coding", ContentCoding.self)],
        "Bytes of response bodies as sent, by coding, without framing.")
    var wireBytes = LoopCounter(
        "dictum_wire_bytes_total",
        "Bytes given to clients' connections for responses, heads and framing included.")
    var deltaBytes = LoopCounter(
        "dictum_delta_body_bytes_total", per: .route,
        labels: [MetricLabel("stage", ["before", "after"])], isSparse: true,
        "Bytes of response bodies that were coded over a dictionary, before and after coding.")
    var builtBytes = LoopCounter(
        "dictum_built_body_bytes_total", per: .route,
        labels: [MetricLabel("stage", ["before", "after"])], isSparse: true,
        "Bytes of response bodies that were coded over a built dictionary, before and after coding.")
    var requestDuration = LoopHistogram(
        "dictum_request_duration_seconds", per: .route,
        "Time from a request's head to the last byte of its response, by the route's match.")
    var responseHeadTime = LoopHistogram(
        "dictum_response_head_seconds", per: .route,
        "Time from a request's head to the head of its response, by the route's match.")
    var abortedResponses = LoopCounter(
        "dictum_aborted_responses_total", "Responses that ended before their last byte, for any cause.")
    var compressionSeconds = LoopCounter(
        "dictum_compression_seconds_total",
        labels: [MetricLabel("coding", ContentCoding.allCases.filter { $0 != .identity }.map(\.rawValue))],
        divisor: 1_000_000_000, "Time spent in encoders.")
    var compressionBusy = LoopCounter(
        "dictum_compression_busy_total",
        "Responses that got a cheaper coding because there was no CPU or memory for the intended one.")
    var revalidations = LoopCounter(
        "dictum_revalidations_total", labels: [MetricLabel("result", RevalidationResult.self)],
        "Revalidations of stored responses with the upstream, by result.")

    // MARK: Dictionaries

    var admissions = LoopCounter("dictum_admissions_total", "Bodies that became a version of a chain.")
    var offers = LoopCounter("dictum_offers_total", "Responses that offered a dictionary to the client.")
    var unkeptOffers = LoopCounter(
        "dictum_unkept_offers_total", per: .route, labels: [MetricLabel("reason", UnkeptReason.self)],
        isSparse: true, "Responses that offered a dictionary but that no browser keeps, by the reason.")
    var unfollowedLinks = LoopCounter(
        "dictum_unfollowed_links_total", per: .route, isSparse: true,
        "Links to dictionaries that no browser follows, because their response is no document.")
    var announcements = LoopCounter(
        "dictum_announced_dictionaries_total", per: .route, isSparse: true,
        "Links by which a route's documents announced dictionaries of other paths.")

    // MARK: Connections

    var connections = LoopCounter(
        "dictum_connections", kind: .gauge,
        labels: [MetricLabel("side", ["client", "upstream"]), MetricLabel("state", ["active", "idle"])],
        "Open connections.")
    var connectionsOpened = LoopCounter(
        "dictum_connections_total", labels: [MetricLabel("side", ["client", "upstream"])],
        "Connections opened.")
    var handshakes = LoopCounter(
        "dictum_tls_handshakes_total",
        labels: [MetricLabel("result", HandshakeResult.self)],
        "TLS handshakes with clients, by result.")
    var http2Limits = LoopCounter(
        "dictum_http2_limits_total", labels: [MetricLabel("limit", HTTP2Limit.self)],
        "Limits of HTTP/2 that clients have exceeded, by the limit.")
    var upgrades = LoopCounter(
        "dictum_upgrades_total", "Connections that changed to another protocol, such as WebSocket.")
    var rejectedRequests = LoopCounter(
        "dictum_rejected_requests_total", labels: [MetricLabel("reason", RejectionReason.self)],
        "Requests that Dictum refused or gave up, by the reason.")

    var turns = LoopHistogram(
        "dictum_loop_turn_seconds",
        "Time of an event loop's turns, for which all other connections of the loop wait.")

    // MARK: Upstreams

    var upstreamConnectTime = LoopHistogram(
        "dictum_upstream_connect_seconds", per: .name,
        "Time to connect to an upstream, its TLS included, by the upstream's name.")
    var upstreamHeadTime = LoopHistogram(
        "dictum_upstream_head_seconds", per: .name,
        "Time from the last try of a request to the head of the upstream's response, by the upstream's name.")
    var upstreamErrors = LoopCounter(
        "dictum_upstream_errors_total", per: .name, labels: [MetricLabel("kind", UpstreamErrorKind.self)],
        "Failures of upstreams, including those that a retry has hidden from the client.")
    var upstreamRetries = LoopCounter(
        "dictum_upstream_retries_total", labels: [MetricLabel("reason", RetryReason.self)],
        "Retries of requests, by the failure before.")
    var upstreamRetriesOverBudget = LoopCounter(
        "dictum_upstream_retries_over_budget_total",
        "Requests that were not retried because too many had been.")

    // MARK: Reading

    /// The slowest codings by route; no metric.
    var slowest = SlowestCodings()

    /// The number of routes that are counted; requests of others count as requests without a route.
    private var routeCount: Int
    /// The names of upstreams, each with the row of its position.
    private(set) var upstreamNames = [""]

    private static let reasonCount = Reason.allCases.count + 1
    /// The bound over all reloads; upstreams of further names count as the one without a name.
    private static let upstreamNamesMax = 1_000

    init(routes: Int = 0) { routeCount = routes }

    /// Returns the row of an upstream's name; linear, so for rare events only.
    mutating func row(ofUpstream name: String) -> Int {
        if let row = upstreamNames.firstIndex(of: name) { return row }
        guard upstreamNames.count < Self.upstreamNamesMax else { return 0 }
        upstreamNames.append(name)
        return upstreamNames.count - 1
    }

    var series: [any LoopSeries] {
        Mirror(reflecting: self).children.compactMap { $0.value as? any LoopSeries }
    }

    func slowest(ofRoute route: Int?, now: Int) -> [SlowestCodings.Entry] {
        slowest.entries(row: row(route), now: now)
    }

    /// Returns the counts as samples.
    ///
    /// - Parameter routes: the text of each route's match.
    func samples(routes: [String]) -> [MetricSample] {
        let rows = MetricRows(routes: ["none"] + routes, upstreams: upstreamNames)
        return series.flatMap { $0.samples(rows) }
    }

    func bodySamples(routes: [String]) -> [MetricSample] {
        let rows = MetricRows(routes: ["none"] + routes, upstreams: upstreamNames)
        return [requests, bodyBytes, deltaBytes, compressionSeconds].flatMap { $0.samples(rows) }
    }
}

// MARK: - Counting

extension LoopCounters {
    private func row(_ route: Int?) -> Int {
        guard let route, route < routeCount else { return 0 }
        return route + 1
    }

    mutating func count(_ record: RequestRecord) {
        let route = row(record.routeIndex)
        let reason = record.reason?.index ?? Self.reasonCount - 1
        requests.add(row: route, at: record.coding.index * Self.reasonCount + reason)
        let statusClass = record.status / 100
        responses.add(row: route, at: 1...5 ~= statusClass ? statusClass : 0)
        if let version = record.version { protocols.add(at: version.rawValue) }
        clients.add(at: (record.isFromBrowser ? 0 : 2) + (record.coding.usesDictionary ? 0 : 1))
        bodyBytes.add(record.bodyBytesBefore, row: route, at: 0)
        bodyBytes.add(record.bodyBytesSent, row: route, at: 1)
        sentBodyBytes.add(record.bodyBytesSent, at: record.coding.index)
        wireBytes.add(record.wireBytesSent)
        requestDuration.add(microseconds: record.durationMicroseconds, row: route)
        if record.status > 0 { responseHeadTime.add(microseconds: record.headMicroseconds, row: route) }
        if record.coding.usesDictionary {
            deltaBytes.add(record.bodyBytesBefore, row: route, at: 0)
            deltaBytes.add(record.bodyBytesSent, row: route, at: 1)
        }
        if record.reason == .deltaBuilt {
            builtBytes.add(record.bodyBytesBefore, row: route, at: 0)
            builtBytes.add(record.bodyBytesSent, row: route, at: 1)
        }
        if record.codingNanoseconds > 0 { slowest.add(SlowestCodings.Entry(record), row: route) }
        if record.upstreamMicroseconds != nil {
            upstreamHeadTime.add(microseconds: record.tryMicroseconds, row: record.upstreamRow)
        }
        if !record.isComplete { abortedResponses.add() }
        if let result = record.revalidation { revalidations.add(at: result.index) }
    }

    mutating func countCompression(_ coding: ContentCoding, nanoseconds: Int) {
        guard coding != .identity else { return }
        compressionSeconds.add(nanoseconds, at: coding.index - 1)
    }

    /// Counts so many routes from now on, if they are more than before.
    mutating func grow(routes: Int) { routeCount = max(routeCount, routes) }

    mutating func countRejected(_ reason: RejectionReason) { rejectedRequests.add(at: reason.index) }

    mutating func countUpstreamError(_ kind: UpstreamErrorKind, of upstream: String) {
        upstreamErrors.add(row: row(ofUpstream: upstream), at: kind.index)
    }

    mutating func countUnkept(_ reason: UnkeptReason, route: Int?) {
        unkeptOffers.add(row: row(route), at: reason.index)
    }

    mutating func countUnfollowed(route: Int?) { unfollowedLinks.add(row: row(route)) }

    mutating func countAnnounced(_ count: Int, route: Int?) { announcements.add(count, row: row(route)) }

    mutating func add(_ side: ConnectionSide, active: Int, idle: Int) {
        connections.add(active, at: 2 * side.index)
        connections.add(idle, at: 2 * side.index + 1)
    }

    mutating func count(_ event: ListenerEvent) {
        switch event {
        case .accepted: connectionsOpened.add(at: ConnectionSide.client.index)
        case .handshake(let result): handshakes.add(at: result.index)
        case .limit(let limit): http2Limits.add(at: limit.index)
        }
    }
}

/// The counters of a loop, as all that count on it share them.
final class LoopMetrics {
    var counters: LoopCounters

    init(routes: Int) { counters = LoopCounters(routes: routes) }
}

/// The counters of all loops, as far as they are known.
struct LoopReading: Sendable {
    let counters: [LoopCounters]
    /// The number of loops that did not respond, whose counters are older.
    let silentLoops: Int
}
