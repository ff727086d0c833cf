internal import Dictionaries
internal import Dispatch
internal import Primitives
internal import Storage

/// One training: a chain of short jobs of the background worker, so that deltas do not wait for long.
///
/// It holds its memory, and is the only one, as long as one of its jobs exists.
final class LearningRun: Sendable {
    /// The dictionary that a run is to make.
    struct Order: Sendable {
        let chain: ChainKey
        let route: Route
        /// The dictionary that clients are offered now.
        let current: Storage.Version?
        /// The versions to learn from, the newest first.
        let rows: [Int64]
        /// The number of responses that a client gets for its download.
        let responses: Int
        let sizes: CodedSizes
    }

    /// The part of the budget for codings that a training may take.
    static let budgetPart = 4
    /// The memory of the encoders and their dictionaries, which `sizes` has.
    static let preparedBytes = 4 << 20
    private static let baseBytes = 12 << 20
    /// libzstd's training takes four times its samples.
    private static let bytesPerSampleByte = 4
    private static let samplesBytes = 256 << 10...16 << 20

    private let order: Order
    private let owner: LearnedDictionaries
    private let samplesBytesMax: Int
    private let reserved: Int
    /// When it began: a purge that came later reaches what it makes.
    private let begunAt = SystemClock.unixMicroseconds
    private let deadline: Int64

    init?(_ order: Order, for owner: LearnedDictionaries) {
        let room = (owner.memory.limitBytes / Self.budgetPart - Self.baseBytes) / Self.bytesPerSampleByte
        samplesBytesMax = min(room, Self.samplesBytes.upperBound)
        reserved = Self.baseBytes + Self.bytesPerSampleByte * samplesBytesMax
        guard Self.samplesBytes.contains(samplesBytesMax), owner.memory.reserve(reserved) else { return nil }
        (self.order, self.owner) = (order, owner)
        deadline = SystemClock.monotonicNanoseconds + owner.state.withLock { $0.durationNanoseconds }
    }

    deinit {
        owner.memory.release(reserved)
        owner.runEnded()
    }

    // MARK: Samples

    /// Reads the present dictionary, and the newest versions for which there is room.
    func begin() {
        submit { run in
            let reader = run.owner.store.reader()
            var bytesLeft = run.samplesBytesMax
            let versions = run.order.rows.compactMap { reader.version(row: $0) }.filter { version in
                guard version.isProvenPublic, version.bytes <= bytesLeft else { return false }
                bytesLeft -= version.bytes
                return true
            }
            guard let current = run.order.current else { return run.load(versions[...], nil) }
            run.read(current) { run, body in
                // Without it nothing can be compared with it.
                if let body { run.load(versions[...], body) } else { run.end(.unreadable) }
            }
        }
    }

    /// Reads bodies one after the other; those that cannot be read are left out, and equal ones count once.
    private func load(
        _ rest: ArraySlice<Storage.Version>, _ current: Body?,
        _ samples: TrainingSamples = TrainingSamples(matching: nil)
    ) {
        guard let version = rest.first else { return train(samples, current) }
        read(version) { run, body in
            var samples = samples
            if let body { samples.add(TrainingSample(version, body), unless: nil) }
            run.load(rest.dropFirst(), current, samples)
        }
    }

    private func read(_ version: Storage.Version, _ next: @escaping @Sendable (LearningRun, Body?) -> Void) {
        if let body = owner.store.hotBody(of: version) { return submit { next($0, body) } }
        owner.store.load(version) { [self] body in submit { next($0, body) } }
    }

    // MARK: Training

    private func train(_ samples: TrainingSamples, _ current: Body?) {
        guard samples.resourceCount >= LearningPlan.resourcesMin, let split = SampleSplit(samples.samples)
        else { return end(.fewProven) }
        advance(DictionaryTraining(split: split, sizes: order.sizes, responses: order.responses), current)
    }

    private func advance(_ training: DictionaryTraining, _ current: Body?) {
        submit { run in
            var training = training
            // A body that cannot be coded is a fault of memory.
            guard (try? training.advance()) != nil else { return run.end(.noMemory) }
            if training.isDone { run.judge(training, current) } else { run.advance(training, current) }
        }
    }

    private func judge(_ training: DictionaryTraining, _ current: Body?) {
        let (verdict, best) = training.outcome
        guard let best, let chosen = verdict.best,
            current.map({ replaces($0, with: best, chosen, training.heldOut) }) ?? true
        else { return end(.noGain) }
        guard owner.wants(order) else { return end(.abandoned) }
        let (now, index) = (SystemClock.unixSeconds, owner.store.reader())
        guard
            let version = owner.registry.version(
                with: best, as: VersionKey(learnedFor: order.chain), order.route.admission, begunAt: begunAt,
                now: now),
            owner.registry.named(
                version, index: index, lifeSeconds: order.route.dictionary?.linkLifeSeconds ?? 0, now: now
            ) != nil
        else { return end(.noPlace) }
        owner.learned(isFirst: current == nil, order)
    }

    /// Returns true if clients that download the new dictionary, as a delta over the present one, save more than that costs.
    private func replaces(
        _ current: Body, with best: Body, _ chosen: TrainingVerdict.Candidate, _ heldOut: [Body]
    ) -> Bool {
        let saved = order.sizes.average(of: heldOut, over: current, .dcb) - chosen.dcb
        return order.responses * saved > order.sizes.delta(best, over: current, .dcb)
    }

    // MARK: Jobs

    private func end(_ reason: LearningReason) { owner.failed(reason, order) }

    /// Ends the run if it has become useless or takes too long; returns false then.
    private func goesOn() -> Bool {
        guard owner.wants(order) else {
            end(.abandoned)
            return false
        }
        guard SystemClock.monotonicNanoseconds < deadline else {
            end(.noProcessorTime)
            return false
        }
        return true
    }

    /// Has the worker do a job, unless the run has become useless or takes too long; waits while too many others do.
    private func submit(_ job: @escaping @Sendable (LearningRun) -> Void) {
        let isTaken = owner.worker.submit { [self] in if goesOn() { owner.timed { job(self) } } }
        guard !isTaken, goesOn() else { return }
        DispatchQueue.global(qos: .background).asyncAfter(deadline: .now() + .seconds(1)) { [self] in
            submit(job)
        }
    }
}
