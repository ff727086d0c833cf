internal import Dictionaries
internal import Primitives
internal import Storage

/// Makes the built dictionaries of routes that learn theirs (`built: learned`), and replaces them when responses change.
///
/// The store has the dictionaries: the newest version of a route's built chain is the present one, also after a restart. They are
/// made of proven public versions only. It outlives reloads. Safe from any thread.
final class LearnedDictionaries: Sendable {
    struct Terms: Sendable {
        let routes: RouteTable
        let isOn: Bool
        let levels: CodingLevels
        let verify: Verification.Mode

        /// Returns the route that learns the dictionary of a chain, if its clients can be told of it.
        func learner(of chain: ChainKey) -> Route? {
            guard isOn, routes.announces, let route = routes.builtRoute(of: chain), route.learnsBuilt,
                route.dictionarySwitch == nil, routes.mayName(route)
            else { return nil }
            return route
        }
    }

    /// The knowledge about a built chain.
    struct Record: Sendable {
        var visits = FirstVisits()
        var proven = ProvenRows()
        /// The attempts in a row that made no dictionary, and the second before which none begins.
        var failures = 0
        var retryAt = 0
        var reason: LearningReason?
    }

    struct State {
        var terms: Terms?
        /// As many as there are hosts that can have a built dictionary.
        var records = FairTable<ChainKey, Record>(buckets: 16, slots: 4)
        /// The steps by route and reason.
        var counts: [[String]: Int] = [:]
        var allowance = ProcessorAllowance(cpuShare: LearnedDictionaries.cpuShare)
        /// The time after which a training is given up.
        var durationNanoseconds: Int64 = 600_000_000_000
        /// True while a dictionary is made: one at a time.
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
    let state = Guarded(State())

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
                $0.visits.record(bytes: sentBytes, of: client, at: now)
            }
        }
    }

    /// Notes a version of the route that is proven to be public, and the newest of its own chain.
    func noteProven(_ version: Storage.Version, of chain: ChainKey) {
        // A body that the upstream offers as the dictionary of other paths is not one of many.
        guard !version.isUpstreamMatch else { return }
        state.withLock { _ = $0.records.changeIfPresent(chain) { $0.proven.note(version) } }
    }

    // MARK: Upkeep

    /// Begins what is due; called every second, not on a loop.
    func keepUp(_ terms: Terms, now: Int) {
        let index = store.reader()
        let records = state.withLock { state in
            state.terms = terms
            return terms.isOn && !state.isBusy && !state.isStopped ? state.records.all : [:]
        }
        // Where it pays most, first.
        for (chain, record) in records.sorted(by: { $0.value.visits.bytes > $1.value.visits.bytes }) {
            guard let route = terms.learner(of: chain) else { continue }
            var record = record
            // What a purge has removed proves nothing.
            record.proven.keep(in: index)
            change(chain) { $0.proven.keep(in: index) }
            if keepUp(chain, of: route, record, index.learned(of: chain), terms, now: now) { return }
        }
    }

    /// Returns true if a training has begun.
    private func keepUp(
        _ chain: ChainKey, of route: Route, _ record: Record, _ current: Storage.Version?, _ terms: Terms,
        now: Int
    ) -> Bool {
        let known = registry.knowledge(of: chain)
        let facts = LearningPlan.Facts(
            visits: record.visits, proven: record.proven.count, hasDictionary: current != nil,
            isTooLittle: current.map { known.savings.hasFallen($0.id) || !known.ledger.pays(at: now) }
                ?? false,
            retryAt: record.retryAt)
        let hasTime = state.withLock { $0.allowance.hasPlenty(now: SystemClock.monotonicNanoseconds) }
        switch LearningPlan.decide(facts, hasProcessorTime: hasTime, now: now) {
        case .wait(let reason):
            if let reason { note(reason, of: chain, route) }
            return false
        case .train(let responses):
            let order = LearningRun.Order(
                chain: chain, route: route, current: current, rows: record.proven.newestFirst,
                responses: responses,
                sizes: CodedSizes(
                    levels: terms.levels, preparedBytes: LearningRun.preparedBytes, verify: terms.verify))
            return begin(order)
        }
    }

    /// Returns false if there is no place or no memory.
    private func begin(_ order: LearningRun.Order) -> Bool {
        guard registry.hasPlaceForBuilt(of: order.chain.authority) else {
            failed(.noPlace, order)
            return false
        }
        let isFree = state.withLock { state in
            defer { state.isBusy = true }
            return !state.isBusy
        }
        guard isFree else { return true }
        guard let run = LearningRun(order, for: self) else {
            runEnded()
            failed(.noMemory, order)
            return false
        }
        if order.current != nil { note(.tooLittle, of: order.chain, order.route) }
        run.begin()
        return true
    }

    /// Ends the work after its present step; a shutdown does not wait for it.
    func stop() { state.withLock { $0.isStopped = true } }

    // MARK: What a run asks and says

    /// Returns true while the present configuration wants what a run does.
    func wants(_ order: LearningRun.Order) -> Bool {
        let terms = state.withLock { $0.isStopped ? nil : $0.terms }
        return terms?.learner(of: order.chain)?.text == order.route.text
    }

    /// Charges the processor time of a step.
    func timed(_ work: () -> Void) {
        let begin = SystemClock.threadNanoseconds
        work()
        let spent = SystemClock.threadNanoseconds - begin
        state.withLock { $0.allowance.charge(spent, now: SystemClock.monotonicNanoseconds) }
    }

    func runEnded() { state.withLock { $0.isBusy = false } }

    /// Notes that an attempt has made no dictionary; the next one comes later each time.
    func failed(_ reason: LearningReason, _ order: LearningRun.Order) {
        let now = SystemClock.unixSeconds
        change(order.chain) { record in
            record.failures += 1
            record.retryAt = LearningPlan.retryAt(failures: record.failures, now: now)
            if reason == .noGain, order.current == nil { record.visits = FirstVisits() }
        }
        // No better one can be made, so it need not be as good as it was.
        if reason == .noGain, let current = order.current { registry.acceptFall(of: current) }
        note(reason, of: order.chain, order.route, isAttempt: true)
    }

    /// Notes a dictionary that clients are offered from now on.
    func learned(isFirst: Bool, _ order: LearningRun.Order) {
        change(order.chain) { record in
            (record.visits, record.failures, record.retryAt) = (FirstVisits(), 0, 0)
        }
        note(isFirst ? .trained : .replaced, of: order.chain, order.route, isAttempt: true)
    }

    private func change(_ chain: ChainKey, _ change: (inout Record) -> Void) {
        state.withLock { _ = $0.records.changeIfPresent(chain, change) }
    }

    /// Counts a step, and logs it if it is another one than before.
    private func note(_ reason: LearningReason, of chain: ChainKey, _ route: Route, isAttempt: Bool = false) {
        let former = state.withLock { state in
            let former = state.records.changeIfPresent(chain) { record -> LearningReason? in
                defer { record.reason = reason }
                return record.reason
            }
            if former != .some(reason) || isAttempt {
                state.counts[[route.text, reason.rawValue], default: 0] += 1
            }
            return former ?? nil
        }
        guard former != reason, former != nil || isAttempt else { return }
        report(.info("route \(route.text), host \(chain.authority): \(reason.text) (\(reason.rawValue))"))
    }

    // MARK: Reports

    /// Returns the states of a route in its hosts, of at most some of them.
    func rows(of route: Route) -> [SavingsReport.Learned] {
        let index = store.reader()
        return state.withLock { $0.records.all }
            .filter { route.builtChain(authority: $0.key.authority) == $0.key }
            .sorted { $0.key.authority < $1.key.authority }.prefix(16).map { chain, record in
                let current = index.learned(of: chain)
                var proven = record.proven
                proven.keep(in: index)
                return SavingsReport.Learned(
                    host: chain.authority, reason: record.reason?.rawValue, clients: record.visits.clients,
                    proven: proven.count, bytes: current?.bytes,
                    ratio: current.flatMap { registry.knowledge(of: chain).savings.ratio(of: $0.id) })
            }
    }
}

extension DictionaryIndex.Reader {
    /// Returns the newest dictionary that was learned for a built chain; nil without one.
    func learned(of chain: ChainKey) -> Version? {
        newest(VersionKey(learnedFor: chain)).flatMap { $0.isLearned ? $0 : nil }
    }
}

extension LearnedDictionaries: MetricSource {
    static var readings: [MetricReading<LearnedDictionaries>] {
        [
            .each(
                "dictum_learning_steps_total", by: ["route", "reason"],
                "Steps of routes that learn their built dictionary, by the reason."
            ) { learned in
                learned.state.withLock { $0.counts }.sorted { $0.key.lexicographicallyPrecedes($1.key) }
                    .map { ($0.key, $0.value) }
            }
        ]
    }
}

/// The newest proven version of each chain, by its row: what a dictionary is learned from.
struct ProvenRows: Sendable {
    static let countMax = 512

    /// By a seeded hash of the chain.
    private var rows: [Int: Int64] = [:]

    var count: Int { rows.count }

    /// Forgets the versions that the store no longer has.
    mutating func keep(in index: DictionaryIndex.Reader) {
        rows = rows.filter { index.version(row: $0.value) != nil }
    }

    var newestFirst: [Int64] { rows.values.sorted(by: >) }

    /// Notes the version that is the newest of its chain; the older half goes if there are too many.
    mutating func note(_ version: Storage.Version) {
        let chain = version.chainKey.hashValue
        if rows[chain] == nil, rows.count >= Self.countMax {
            let newest = rows.sorted { $0.value > $1.value }.prefix(Self.countMax / 2)
            rows = Dictionary(uniqueKeysWithValues: newest.map { ($0.key, $0.value) })
        }
        rows[chain] = version.id
    }
}
