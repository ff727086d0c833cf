internal import Dictionaries
internal import Primitives
internal import Storage

/// Makes the built dictionaries of routes that learn theirs (`built: learned`), and replaces them when responses change.
///
/// The store has the dictionaries: the newest version of a route's built chain is the present one, also after a restart. They are
/// made of proven public versions only. It outlives reloads. Safe from any thread.
final class LearnedDictionaries: Sendable {
    /// The present settings.
    struct Terms: Sendable {
        let routes: RouteTable
        /// True while dictionaries are used.
        let isOn: Bool
        let levels: CodingLevels
        let verify: Verification.Mode
    }

    /// What is known of a chain.
    struct Record: Sendable {
        var facts = LearningPlan.Facts()
        /// The dictionary that the facts are about.
        var digest: Digest?
        var reason: LearningReason?
        var bytes = 0
    }

    /// A step that a route has done.
    struct Count: Hashable, Sendable {
        let route: String
        let reason: LearningReason
    }

    private struct State {
        /// By the built chain.
        var records = FairTable<ChainKey, Record>(buckets: 64, slots: 4)
        var known: Set<ChainKey> = []
        var counts: [Count: Int] = [:]
        var allowance = ProcessorAllowance(cpuShare: LearnedDictionaries.cpuShare)
        /// True while a dictionary is made or measured: one at a time.
        var isBusy = false
        var isStopped = false
    }

    /// The share of one core, on average.
    static let cpuShare = 0.02

    let store: DictionaryStore
    let registry: LinkRegistry
    let worker: BackgroundWorker
    let memory: MemoryBudget
    private let report: @Sendable (OperatorEvent) -> Void
    private let state = Guarded(State())

    init(
        store: DictionaryStore, registry: LinkRegistry, worker: BackgroundWorker, memory: MemoryBudget,
        report: @escaping @Sendable (OperatorEvent) -> Void
    ) {
        (self.store, self.registry, self.worker, self.memory) = (store, registry, worker, memory)
        self.report = report
    }

    // MARK: On the loop

    /// Records a response that a client got without a version of its path.
    func recordFirstVisit(of chain: ChainKey, sentBytes: Int, client: UInt128, now: Int) {
        state.withLock { state in
            state.records.change(chain, openedBy: client, fresh: Record()) {
                $0.facts.visits.record(bytes: sentBytes, of: client, at: now)
            }
            if state.known.count >= 1024 { state.known = state.known.filter { state.records[$0] != nil } }
            state.known.insert(chain)
        }
    }

    // MARK: Upkeep

    /// Begins what is due; called every second, not on a loop.
    func keepUp(_ terms: Terms, now: Int) {
        guard terms.isOn else { return }
        let chains = state.withLock { $0.isBusy || $0.isStopped ? [] : Array($0.known) }
        let index = store.reader()
        for chain in chains.shuffled() {
            guard let route = terms.routes.builtRoute(of: chain), route.learnsBuilt,
                terms.routes.mayName(route)
            else {
                forget(chain)
                continue
            }
            if keepUp(chain, of: route, index.newestBuilt(of: chain), terms, now: now) { return }
        }
    }

    /// Returns true if work has begun.
    private func keepUp(
        _ chain: ChainKey, of route: Route, _ current: Storage.Version?, _ terms: Terms, now: Int
    ) -> Bool {
        let decision = state.withLock { state -> LearningPlan.Decision in
            let hasTime = state.allowance.hasPlenty(now: SystemClock.monotonicNanoseconds)
            return state.records.changeIfPresent(chain) { record in
                record.adopt(current)
                return LearningPlan.decide(record.facts, hasProcessorTime: hasTime, now: now)
            } ?? .wait(nil)
        }
        let purpose: LearningRun.Purpose
        switch decision {
        case .wait(let reason):
            if let reason { note(reason, of: chain, route) }
            return false
        case .train(let responses): purpose = .training(responses: responses)
        case .measure: purpose = .measuring
        }
        guard takeTurn() else { return true }
        guard
            let run = LearningRun(purpose, of: chain, route, current, terms, for: self, now: now)
        else {
            state.withLock { $0.isBusy = false }
            failed(.noMemory, of: chain, route, now: now)
            return true
        }
        run.begin()
        return true
    }

    /// Returns false while another dictionary is made or measured.
    private func takeTurn() -> Bool {
        state.withLock { state in
            guard !state.isBusy, !state.isStopped else { return false }
            state.isBusy = true
            return true
        }
    }

    private func forget(_ chain: ChainKey) {
        state.withLock { state in
            _ = state.records.changeIfPresent(chain) { $0 = Record() }
            state.known.remove(chain)
        }
    }

    /// Only tests change the share of the processor.
    func changeShare(to share: Double) { state.withLock { $0.allowance.cpuShare = share } }

    /// Lets the next attempts begin at once; for tests.
    func forgetFailures() {
        state.withLock { state in
            for chain in state.known { _ = state.records.changeIfPresent(chain) { $0.facts.retryAt = 0 } }
        }
    }

    /// Ends the work after its present step; a shutdown does not wait for it.
    func stop() { state.withLock { $0.isStopped = true } }

    var isStopped: Bool { state.withLock { $0.isStopped } }

    // MARK: What a run does

    /// Charges the processor time of a step.
    func timed<Result>(_ work: () -> Result) -> Result {
        let begin = SystemClock.threadNanoseconds
        defer {
            let spent = SystemClock.threadNanoseconds - begin
            state.withLock { $0.allowance.charge(spent, now: SystemClock.monotonicNanoseconds) }
        }
        return work()
    }

    func runEnded() { state.withLock { $0.isBusy = false } }

    /// Notes that an attempt has made no dictionary; the next one comes later each time.
    func failed(_ reason: LearningReason, of chain: ChainKey, _ route: Route, now: Int) {
        change(chain) { record in
            record.facts.failures += 1
            record.facts.retryAt = LearningPlan.retryAt(failures: record.facts.failures, now: now)
            if reason == .noGain { record.facts.visits = FirstVisits() }
        }
        note(reason, of: chain, route, isAttempt: true)
    }

    /// Notes a dictionary that clients are offered from now on.
    func learned(
        _ version: Storage.Version, ratio: Double, isFirst: Bool, of chain: ChainKey, _ route: Route, now: Int
    ) {
        change(chain) { record in
            record.adopt(version)
            record.facts.visits = FirstVisits()
            (record.facts.trainedRatio, record.facts.ratio) = (ratio, ratio)
            (record.facts.failures, record.facts.measuredAt) = (0, now)
        }
        note(isFirst ? .trained : .replaced, of: chain, route, isAttempt: true)
    }

    /// Notes what the dictionary saves now; nil if no version has come that it was not made of.
    func measured(_ ratio: Double?, of chain: ChainKey, _ route: Route, now: Int) {
        var trained: Double?
        change(chain) { record in
            record.facts.measuredAt = now
            record.facts.ratio = ratio ?? record.facts.ratio
            record.facts.trainedRatio = record.facts.trainedRatio ?? ratio
            trained = record.facts.trainedRatio
        }
        let hasFallen = ratio.map { LearningPlan.hasFallen($0, from: trained) } ?? false
        note(hasFallen ? .ratioFell : .kept, of: chain, route)
    }

    private func change(_ chain: ChainKey, _ change: (inout Record) -> Void) {
        state.withLock { _ = $0.records.changeIfPresent(chain, change) }
    }

    /// Counts a step, and logs it if it is another one than before.
    private func note(
        _ reason: LearningReason, of chain: ChainKey, _ route: Route, isAttempt: Bool = false
    ) {
        let isNew = state.withLock { state in
            let isNew = state.records.changeIfPresent(chain) { record in
                defer { record.reason = reason }
                return record.reason != reason
            }
            if isNew != false || isAttempt {
                state.counts[Count(route: route.text, reason: reason), default: 0] += 1
            }
            return isNew ?? false
        }
        guard isNew else { return }
        report(.info("route \(route.text), host \(chain.authority): \(reason.text) (\(reason.rawValue))"))
    }

    // MARK: Reports

    /// Returns the states of a route in its hosts, of at most some of them.
    func rows(of route: Route) -> [LearnedState] {
        let records = state.withLock { state in
            state.known.compactMap { chain in state.records[chain].map { (chain, $0) } }
        }
        return records.filter { route.builtChain(authority: $0.0.authority) == $0.0 }
            .sorted { $0.0.authority < $1.0.authority }.prefix(16).map { chain, record in
                LearnedState(
                    host: chain.authority, reason: record.reason?.rawValue,
                    bytes: record.facts.hasDictionary ? record.bytes : nil, ratio: record.facts.ratio)
            }
    }

    var counts: [(count: Count, steps: Int)] {
        state.withLock { $0.counts }.map { ($0.key, $0.value) }
            .sorted {
                ($0.count.route, $0.count.reason.rawValue) < ($1.count.route, $1.count.reason.rawValue)
            }
    }
}

/// The dictionary that a route learns in a host, as reports show it.
package struct LearnedState: Codable, Sendable {
    package let host: String
    /// The last step: a `LearningReason`.
    package let reason: String?
    /// The bytes of the dictionary; nil without one.
    package let bytes: Int?
    /// The bytes without it, divided by those over it.
    package let ratio: Double?
}

extension LearnedDictionaries.Record {
    /// Goes on with the dictionary that the store has.
    fileprivate mutating func adopt(_ version: Storage.Version?) {
        guard version?.digest != digest else { return }
        (digest, bytes) = (version?.digest, version?.bytes ?? 0)
        facts.hasDictionary = version != nil
        (facts.trainedRatio, facts.ratio) = (nil, nil)
        facts.retryAt = 0
    }
}

extension LearnedDictionaries: MetricSource {
    static var readings: [MetricReading<LearnedDictionaries>] {
        [
            .each(
                "dictum_learning_steps_total", by: ["route", "reason"],
                "Steps of routes that learn their built dictionary, by the reason."
            ) { $0.counts.map { ([$0.count.route, $0.count.reason.rawValue], $0.steps) } }
        ]
    }
}
