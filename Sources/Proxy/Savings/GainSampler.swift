internal import Dictionaries
internal import Primitives
internal import Storage
internal import Synchronization

/// Measures how much deltas save, by coding about 1 in 64 of their bodies without a dictionary too, and the first ten of each
/// route.
///
/// It codes one body at a time at the lowest priority and uses at most a hundredth of one core. Safe from any thread.
final class GainSampler: Sendable {
    /// A delta that was sent.
    struct Sample: Sendable {
        let route: String
        let body: [UInt8]
        let deltaBytes: Int
        /// The codings that the client accepts, except those over a dictionary.
        let codings: [ContentCoding]
        let source: RouteGain.Source
    }

    /// Larger bodies are not measured: no route has larger dictionaries unless it raises `max_body`.
    static let bodyBytesMax = RoutePolicy.Defaults.bodyBytesMax
    /// The average number of deltas per sample.
    static let interval = 64
    /// The pause after a sample, in multiples of its duration.
    private static let restFactor: Int64 = 99

    private let worker: BackgroundWorker
    private let memory: MemoryBudget
    private let report: @Sendable (OperatorEvent) -> Void
    /// The number of deltas up to the next sample.
    private let countdown = Atomic<Int>(1)
    /// The monotonic time of the next sample; `.max` while one waits or is measured.
    private let restsUntil = Atomic<Int64>(0)
    private let gains = Guarded<[String: RouteGain]>([:])

    init(worker: BackgroundWorker, memory: MemoryBudget, report: @escaping @Sendable (OperatorEvent) -> Void)
    {
        self.worker = worker
        self.memory = memory
        self.report = report
    }

    var totals: [String: Gain] { gains.withLock { $0.mapValues(\.total) } }

    func total(of route: String) -> Gain? { gains.withLock { $0[route]?.total } }

    func count(of route: String, bodyBytes: Int, deltaBytes: Int) {
        gains.withLock {
            $0[route, default: RouteGain()].count(bodyBytes: bodyBytes, deltaBytes: deltaBytes)
        }
    }

    /// Takes the turn of a delta; returns true if it is to be sampled.
    ///
    /// Until a route has enough samples for a margin each delta has a turn, so that its figures are not rough for long.
    func takeTurn(of route: String) -> Bool {
        guard countdown.wrappingSubtract(1, ordering: .relaxed).newValue == 0 else {
            return gains.withLock { ($0[route]?.total.sampled.count ?? 0) < Gain.samplesMin }
        }
        // A random interval, because a fixed one would sample periodic traffic always or never.
        countdown.store(.random(in: 1..<2 * Self.interval), ordering: .relaxed)
        return true
    }

    /// Measures a sample later, or drops it.
    func submit(_ sample: Sample, levels: CodingLevels) {
        let now = SystemClock.monotonicNanoseconds
        let due = restsUntil.load(ordering: .relaxed)
        // Only the time that was read is replaced: another one is that of a sample that was taken in between.
        guard due <= now,
            restsUntil.compareExchange(expected: due, desired: .max, ordering: .relaxed).exchanged
        else { return }
        let isTaken = worker.submit { [self] in
            let begin = SystemClock.monotonicNanoseconds
            measure(sample, levels)
            let end = SystemClock.monotonicNanoseconds
            restsUntil.store(end + (end - begin) * Self.restFactor, ordering: .relaxed)
        }
        if !isTaken { restsUntil.store(now, ordering: .relaxed) }
    }

    private func measure(_ sample: Sample, _ levels: CodingLevels) {
        guard let plainBytes = levels.leastBytes(of: sample.body, in: sample.codings, memory) else { return }
        let due = gains.withLock {
            $0[sample.route, default: RouteGain()].sample(
                bodyBytes: sample.body.count, deltaBytes: sample.deltaBytes, plainBytes: plainBytes,
                over: sample.source, now: Int(SystemClock.unixSeconds))
        }
        guard let due else { return }
        let text = due.text(of: sample.route)
        report(due.advice == nil ? .info(text) : .warning(text))
    }
}

extension GainSampler: MetricSource {
    static var readings: [MetricReading<GainSampler>] {
        [
            .each(
                "dictum_gain_samples_total", by: "route",
                "Deltas that were compared with the best coding that their client accepts without a dictionary."
            ) { $0.sortedTotals.map { ($0.key, $0.value.sampled.count) } },
            .each(
                "dictum_gain_bytes_total", by: ["route", "stage"],
                "Bytes of the bodies of compared deltas: uncoded, as deltas, and in the best other coding."
            ) {
                $0.sortedTotals.flatMap { route, gain in
                    [
                        ([route, "body"], gain.sampledBodyBytes),
                        ([route, "delta"], gain.sampled.deltaBytes),
                        ([route, "plain"], gain.sampled.plainBytes),
                    ]
                }
            },
        ]
    }

    private var sortedTotals: [(key: String, value: Gain)] {
        totals.filter { $0.value.sampled.count > 0 }.sorted { $0.key < $1.key }
    }
}
