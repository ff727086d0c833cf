internal import Dictionaries
internal import Dispatch
internal import HTTP
internal import Primitives
internal import Synchronization

/// Measures how much deltas save, by coding about 1 in 64 of their bodies without a dictionary too.
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
        /// True if the dictionary is the body of another URL.
        let isAcrossURLs: Bool
    }

    /// Larger bodies are not measured.
    static let bodyBytesMax = 1 << 20
    /// The average number of deltas per sample.
    static let interval = 64
    /// The pause after a sample, in multiples of its duration.
    private static let restFactor: Int64 = 99

    private let memory: MemoryBudget
    private let report: @Sendable (StoreEvent) -> Void
    private let queue = DispatchQueue(label: "dictum.gain", qos: .background)
    private let isBusy = Atomic<Bool>(false)
    // The number of deltas up to the next sample. The first delta is sampled, so that new routes report soon.
    private let countdown = Atomic<Int>(1)
    private let restsUntil = Atomic<Int64>(0)
    private let gains = Guarded<[String: RouteGain]>([:])

    init(memory: MemoryBudget, report: @escaping @Sendable (StoreEvent) -> Void) {
        self.memory = memory
        self.report = report
    }

    /// The totals of each route.
    var totals: [String: RouteGain.Sum] { gains.withLock { $0.mapValues(\.total) } }

    /// The total of one route, or nil without samples.
    func total(of route: String) -> RouteGain.Sum? { gains.withLock { $0[route]?.total } }

    /// True while no sample is being measured.
    var isIdle: Bool { !isBusy.load(ordering: .acquiring) }

    /// Counts a delta; returns true if it is to be sampled.
    func isTurn() -> Bool {
        guard countdown.wrappingSubtract(1, ordering: .relaxed).newValue == 0 else { return false }
        // A random interval, because a fixed one would sample periodic traffic always or never.
        countdown.store(.random(in: 1..<2 * Self.interval), ordering: .relaxed)
        return true
    }

    /// Measures a sample later, or drops it.
    func submit(_ sample: Sample, levels: CodingLevels) {
        guard sample.body.count <= Self.bodyBytesMax,
            restsUntil.load(ordering: .relaxed) <= Int64(SystemClock.monotonicNanoseconds),
            !isBusy.exchange(true, ordering: .acquiringAndReleasing)
        else { return }
        queue.async { [self] in
            let begin = Int64(SystemClock.monotonicNanoseconds)
            measure(sample, levels)
            let end = Int64(SystemClock.monotonicNanoseconds)
            restsUntil.store(end + (end - begin) * Self.restFactor, ordering: .relaxed)
            isBusy.store(false, ordering: .releasing)
        }
    }

    private func measure(_ sample: Sample, _ levels: CodingLevels) {
        guard let plainBytes = plainBytes(of: sample, levels) else { return }
        let due = gains.withLock {
            $0[sample.route, default: RouteGain()].note(
                deltaBytes: sample.deltaBytes, plainBytes: plainBytes, isAcrossURLs: sample.isAcrossURLs,
                now: Int(SystemClock.unixSeconds))
        }
        guard let due else { return }
        let text = due.text(of: sample.route)
        report(due.advice == nil ? .info(text) : .warning(text))
    }

    /// Returns the size in the best coding without a dictionary, or nil if there is no memory to encode.
    private func plainBytes(of sample: Sample, _ levels: CodingLevels) -> Int? {
        var best = sample.body.count
        for coding in sample.codings {
            // The slowest levels would occupy the queue for seconds.
            let options = EncoderOptions(
                bodyBytes: sample.body.count, level: levels.givenForStream(coding))
            let size = memory.lend(Codec.memoryEstimate(for: coding, options: options)) {
                try? Codec.encode(sample.body.span, coding, options: options).count
            }
            guard let size else { return nil }
            best = min(best, size ?? best)
        }
        return best
    }
}

extension GainSampler {
    /// The totals as samples of the metrics.
    var samples: [MetricSample] {
        totals.sorted { $0.key < $1.key }.flatMap { route, sum in
            [
                MetricSample(MetricsTable.gainSamples, [route], sum.samples),
                MetricSample(MetricsTable.gainBytes, [route, "delta"], sum.deltaBytes),
                MetricSample(MetricsTable.gainBytes, [route, "plain"], sum.plainBytes),
            ]
        }
    }
}
