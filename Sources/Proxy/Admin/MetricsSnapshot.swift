internal import Dictionaries
internal import HTTP

/// The counters of one loop, or of several summed.
package struct MetricsSnapshot: Sendable {
    /// The upper bounds of the histogram's buckets, in microseconds.
    static let durationBounds = [
        500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
        5_000_000, 10_000_000,
    ]
    private static let reasons = Reason.allCases.map(\.text) + ["none"]
    private static let unkeptReasons = UnkeptReason.allCases
    private static let codings = ContentCoding.allCases
    private static let statusClasses = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"]

    /// The routes, and before them one for requests that came to none.
    private var routeCount: Int
    private var requests: [Int]
    private var responses = [Int](repeating: 0, count: statusClasses.count)
    private var unkept: [Int]
    private var unfollowed: [Int]
    private var announced: [Int]
    private var bodyBytesBefore: [Int]
    private var bodyBytesAfter: [Int]
    private var compressionNanoseconds = [Int](repeating: 0, count: codings.count)
    private var durations = [Int](repeating: 0, count: durationBounds.count + 1)
    private var durationMicroseconds = 0
    var clientConnections = ConnectionCounts()
    var upstreamConnections = ConnectionCounts()
    var handshakes = TLSHandshakeCounts()
    var rejected: [RejectionReason: Int] = [:]
    var upstreamErrors: [UpstreamErrorKind: Int] = [:]
    var retries: [RetryReason: Int] = [:]
    var retriesOverBudget = 0
    var aborted = 0
    var admissions = 0
    var offers = 0
    var upgrades = 0
    var busy = 0
    private var revalidations = [Int](repeating: 0, count: RevalidationResult.allCases.count)

    init(routes: Int) {
        routeCount = routes + 1
        requests = Array(repeating: 0, count: routeCount * Self.codings.count * Self.reasons.count)
        unkept = Array(repeating: 0, count: routeCount * Self.unkeptReasons.count)
        unfollowed = Array(repeating: 0, count: routeCount)
        announced = Array(repeating: 0, count: routeCount)
        bodyBytesBefore = Array(repeating: 0, count: routeCount)
        bodyBytesAfter = Array(repeating: 0, count: routeCount)
    }

    /// Counts one request that is over.
    mutating func count(_ record: RequestRecord) {
        let route = place(of: record.routeIndex)
        let reason = record.reason?.index ?? Self.reasons.count - 1
        requests[cell(route, record.coding.index, reason)] += 1
        let statusClass = record.status / 100
        responses[responses.indices.contains(statusClass) ? statusClass : 0] += 1
        bodyBytesBefore[route] += record.bodyBytesBefore
        bodyBytesAfter[route] += record.bodyBytesSent
        let bound = Self.durationBounds.firstIndex { record.durationMicroseconds <= $0 }
        durations[bound ?? Self.durationBounds.count] += 1
        durationMicroseconds += record.durationMicroseconds
        if !record.isComplete { aborted += 1 }
        if let place = record.revalidation?.place { revalidations[place] += 1 }
    }

    /// Counts an offer that no browser keeps.
    mutating func countUnkept(_ reason: UnkeptReason, route: Int?) {
        guard let index = Self.unkeptReasons.firstIndex(of: reason) else { return }
        unkept[place(of: route) * Self.unkeptReasons.count + index] += 1
    }

    /// Counts a Link that no browser follows.
    mutating func countUnfollowed(route: Int?) { unfollowed[place(of: route)] += 1 }

    /// Counts Links by which a document announced dictionaries.
    mutating func countAnnounced(_ count: Int, route: Int?) { announced[place(of: route)] += count }

    private func place(of route: Int?) -> Int {
        route.map { (0..<routeCount - 1).contains($0) ? $0 + 1 : 0 } ?? 0
    }

    /// Counts time in an encoder.
    mutating func countCompression(_ coding: ContentCoding, nanoseconds: Int) {
        compressionNanoseconds[coding.index] += nanoseconds
    }

    /// Makes room for so many routes; those that are there keep their places.
    mutating func grow(routes: Int) {
        guard routes + 1 > routeCount else { return }
        let added = routes + 1 - routeCount
        routeCount = routes + 1
        unkept += [Int](repeating: 0, count: added * Self.unkeptReasons.count)
        requests += [Int](repeating: 0, count: added * Self.codings.count * Self.reasons.count)
        unfollowed += [Int](repeating: 0, count: added)
        announced += [Int](repeating: 0, count: added)
        bodyBytesBefore += [Int](repeating: 0, count: added)
        bodyBytesAfter += [Int](repeating: 0, count: added)
    }

    /// Adds the counters of another loop, which may have heard of a reload before or after this one.
    mutating func add(_ other: MetricsSnapshot) {
        grow(routes: other.routeCount - 1)
        Self.add(other.requests, to: &requests)
        Self.add(other.responses, to: &responses)
        Self.add(other.unkept, to: &unkept)
        Self.add(other.unfollowed, to: &unfollowed)
        Self.add(other.announced, to: &announced)
        Self.add(other.bodyBytesBefore, to: &bodyBytesBefore)
        Self.add(other.bodyBytesAfter, to: &bodyBytesAfter)
        Self.add(other.compressionNanoseconds, to: &compressionNanoseconds)
        Self.add(other.durations, to: &durations)
        durationMicroseconds += other.durationMicroseconds
        clientConnections.add(other.clientConnections)
        upstreamConnections.add(other.upstreamConnections)
        handshakes.add(other.handshakes)
        rejected.merge(other.rejected, uniquingKeysWith: +)
        upstreamErrors.merge(other.upstreamErrors, uniquingKeysWith: +)
        retries.merge(other.retries, uniquingKeysWith: +)
        retriesOverBudget += other.retriesOverBudget
        aborted += other.aborted
        admissions += other.admissions
        offers += other.offers
        upgrades += other.upgrades
        busy += other.busy
        Self.add(other.revalidations, to: &revalidations)
    }

    private static func add(_ values: [Int], to sums: inout [Int]) {
        for index in values.indices { sums[index] += values[index] }
    }

    private func cell(_ route: Int, _ coding: Int, _ reason: Int) -> Int {
        (route * Self.codings.count + coding) * Self.reasons.count + reason
    }
}

extension MetricsSnapshot {
    /// The counters as samples; combinations of route, coding and reason that never were are left out.
    ///
    /// - Parameter routes: the text of each route's match.
    package func samples(routes: [String]) -> [MetricSample] {
        let names = ["none"] + routes
        var samples: [MetricSample] = []
        for route in 0..<min(routeCount, names.count) {
            for (coding, name) in Self.codings.enumerated() {
                for (reason, text) in Self.reasons.enumerated()
                where requests[cell(route, coding, reason)] > 0 {
                    let labels = [names[route], name.rawValue, text]
                    samples.append(
                        .init(MetricsTable.requests, labels, requests[cell(route, coding, reason)]))
                }
            }
            for (reason, text) in Self.unkeptReasons.enumerated() {
                let count = unkept[route * Self.unkeptReasons.count + reason]
                guard count > 0 else { continue }
                samples.append(.init(MetricsTable.unkeptOffers, [names[route], text.rawValue], count))
            }
            if unfollowed[route] > 0 {
                samples.append(.init(MetricsTable.unfollowedLinks, [names[route]], unfollowed[route]))
            }
            if announced[route] > 0 {
                samples.append(.init(MetricsTable.announcements, [names[route]], announced[route]))
            }
            samples.append(.init(MetricsTable.bodyBytes, [names[route], "before"], bodyBytesBefore[route]))
            samples.append(.init(MetricsTable.bodyBytes, [names[route], "after"], bodyBytesAfter[route]))
        }
        for (index, name) in Self.statusClasses.enumerated() {
            samples.append(.init(MetricsTable.responses, [name], responses[index]))
        }
        for (index, coding) in Self.codings.enumerated() where coding != .identity {
            let seconds = Double(compressionNanoseconds[index]) / 1e9
            samples.append(.init(MetricsTable.compressionSeconds, [coding.rawValue], seconds))
        }
        return samples + durationSamples + connectionSamples + handshakeSamples + eventSamples
    }

    private var durationSamples: [MetricSample] {
        var sum = 0
        var samples: [MetricSample] = []
        for (index, count) in durations.enumerated() {
            sum += count
            let isLast = index == Self.durationBounds.count
            let bound = isLast ? "+Inf" : String(Double(Self.durationBounds[index]) / 1e6)
            samples.append(.init(MetricsTable.requestDuration, [bound], Double(sum), suffix: "_bucket"))
        }
        let seconds = Double(durationMicroseconds) / 1e6
        samples.append(.init(MetricsTable.requestDuration, [], seconds, suffix: "_sum"))
        samples.append(.init(MetricsTable.requestDuration, [], Double(sum), suffix: "_count"))
        return samples
    }

    private var connectionSamples: [MetricSample] {
        [(ConnectionSide.client, clientConnections), (.upstream, upstreamConnections)].flatMap {
            side, counts in
            [
                MetricSample(MetricsTable.connections, [side.rawValue, "active"], counts.active),
                MetricSample(MetricsTable.connections, [side.rawValue, "idle"], counts.idle),
                MetricSample(MetricsTable.connectionsOpened, [side.rawValue], counts.opened),
            ]
        }
    }

    private var handshakeSamples: [MetricSample] {
        [
            MetricSample(MetricsTable.handshakes, ["full"], handshakes.full),
            MetricSample(MetricsTable.handshakes, ["resumed"], handshakes.resumed),
            MetricSample(MetricsTable.handshakes, ["failed"], handshakes.failed),
            MetricSample(MetricsTable.handshakes, ["timed-out"], handshakes.timedOut),
        ]
    }

    private var eventSamples: [MetricSample] {
        RejectionReason.allCases.map { reason in
            MetricSample(MetricsTable.rejectedRequests, [reason.rawValue], rejected[reason] ?? 0)
        }
            + UpstreamErrorKind.allCases.map { kind in
                MetricSample(MetricsTable.upstreamErrors, [kind.rawValue], upstreamErrors[kind] ?? 0)
            }
            + RetryReason.allCases.map { reason in
                MetricSample(MetricsTable.upstreamRetries, [reason.rawValue], retries[reason] ?? 0)
            }
            + RevalidationResult.allCases.enumerated().map { place, result in
                MetricSample(MetricsTable.revalidations, [result.rawValue], revalidations[place])
            } + [
                MetricSample(MetricsTable.upstreamRetriesOverBudget, [], retriesOverBudget),
                MetricSample(MetricsTable.abortedResponses, [], aborted),
                MetricSample(MetricsTable.admissions, [], admissions),
                MetricSample(MetricsTable.offers, [], offers),
                MetricSample(MetricsTable.upgrades, [], upgrades),
                MetricSample(MetricsTable.compressionBusy, [], busy),
            ]
    }
}

extension RevalidationResult {
    /// Its place in the list of counters.
    fileprivate var place: Int {
        switch self {
        case .hit: 0
        case .changed: 1
        case .retried: 2
        }
    }
}

/// The connections of one side.
struct ConnectionCounts: Sendable {
    var active = 0
    var idle = 0
    var opened = 0

    mutating func add(_ other: ConnectionCounts) {
        active += other.active
        idle += other.idle
        opened += other.opened
    }
}
