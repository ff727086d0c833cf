internal import Dispatch
internal import Primitives

/// The totals of the past minutes, so that the charts of the admin page begin with them.
final class AdminHistory: Sendable {
    /// The totals since the start of the process, at one moment.
    struct Point: Encodable, Sendable {
        var ageSeconds = 0.0
        let requests: Int
        let deltas: Int
        let notModified: Int
        let sentBytes: Int
        let plainBytes: Int
        let codingSeconds: Double
    }

    static let intervalSeconds = 10
    /// The charts show five minutes.
    static let countMax = 31

    private let queue = DispatchQueue(label: "dictum.admin.history", qos: .utility)
    private let recent = Guarded<[(nanoseconds: Int64, point: Point)]>([])
    private let isOver = Guarded(false)

    /// Records totals now and every few seconds, until `stop`.
    ///
    /// - Parameter read: reads the totals, on a queue of its own where it may block; nil if there is nobody to show them to.
    func start(_ read: @escaping @Sendable () -> Point?) {
        queue.async { [weak self] in self?.record(read) }
    }

    /// Ends the recording; a reading in progress may still end.
    func stop() { isOver.withLock { $0 = true } }

    private func record(_ read: @escaping @Sendable () -> Point?) {
        guard !isOver.withLock({ $0 }) else { return }
        if let point = read() {
            recent.withLock { recent in
                recent.append((SystemClock.monotonicNanoseconds, point))
                if recent.count > Self.countMax { recent.removeFirst() }
            }
        }
        queue.asyncAfter(deadline: .now() + .seconds(Self.intervalSeconds)) { [weak self] in
            self?.record(read)
        }
    }

    /// The totals of the past, the oldest first.
    var points: [Point] {
        let now = SystemClock.monotonicNanoseconds
        return recent.withLock { $0 }.map { nanoseconds, point in
            var point = point
            point.ageSeconds = Double(now - nanoseconds) / 1e9
            return point
        }
    }
}

extension AdminStatus {
    /// Returns the totals of now, or nil without an admin listener; blocks.
    ///
    /// It reads few counters, because it runs all the time.
    func totals() -> AdminHistory.Point? {
        let context = context
        guard context.configuration.admin != nil else { return nil }
        let routes = context.routeNames.texts
        let samples = MetricSample.summed(counters().counters.flatMap { $0.bodySamples(routes: routes) })
        let live = SavingsReport.Live.byRoute(samples, context.gain.totals).values
        let bytes = BodyBytes(live.map { BodyBytes($0) })
        return .init(
            requests: live.reduce(0) { $0 + $1.requests }, deltas: live.reduce(0) { $0 + $1.deltas },
            notModified: live.reduce(0) { $0 + $1.notModified },
            sentBytes: bytes.sent, plainBytes: bytes.plain,
            codingSeconds: SampleTable(samples)["dictum_compression_seconds_total"].reduce(0) {
                $0 + $1.value
            })
    }
}
