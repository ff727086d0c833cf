internal import Dictionaries
internal import Primitives
internal import Storage

/// One training or measurement: a chain of short jobs of the background worker, so that deltas do not wait for long.
///
/// It holds its memory, and is the only one, as long as one of its jobs exists.
final class LearningRun: Sendable {
    enum Purpose: Sendable {
        case training(responses: Int)
        case measuring
    }

    /// The bounds of the samples.
    static let versionsMax = 512
    static let bytesMax = 16 << 20
    static let measuredMax = 20
    /// A part of the budget for codings: a training takes four times its samples, and more.
    private static let budgetPart = 16
    private static let baseBytes = 12 << 20
    private static let preparedBytes = 4 << 20

    private let purpose: Purpose
    private let chain: ChainKey
    private let route: Route
    private let current: Storage.Version?
    private let terms: LearnedDictionaries.Terms
    private let owner: LearnedDictionaries
    private let now: Int
    private let samplesMax: Int
    private let reserved: Int

    /// Returns nil if there is no memory.
    init?(
        _ purpose: Purpose, of chain: ChainKey, _ route: Route, _ current: Storage.Version?,
        _ terms: LearnedDictionaries.Terms, for owner: LearnedDictionaries, now: Int
    ) {
        samplesMax = min(Self.bytesMax, owner.memory.limitBytes / Self.budgetPart)
        let bytes = min(4 * samplesMax + Self.baseBytes, owner.memory.limitBytes / 2)
        guard samplesMax > 0, owner.memory.reserve(bytes) else { return nil }
        reserved = bytes
        (self.purpose, self.chain, self.route, self.current) = (purpose, chain, route, current)
        (self.terms, self.owner, self.now) = (terms, owner, now)
    }

    deinit {
        owner.memory.release(reserved)
        owner.runEnded()
    }

    private var sizes: CodedSizes {
        CodedSizes(levels: terms.levels, preparedBytes: Self.preparedBytes, verify: terms.verify)
    }

    // MARK: Samples

    func begin() {
        submit { run in
            let versions = run.versions()
            if case .training = run.purpose,
                Set(versions.map { $0.chainKey.match + $0.url }).count < LearningPlan.resourcesMin
            {
                return run.owner.failed(.fewProven, of: run.chain, run.route, now: run.now)
            }
            run.load(versions[...], [])
        }
    }

    /// Returns the newest proven versions of the route in this host, as many as there is room for.
    private func versions() -> [Storage.Version] {
        var count = Self.versionsMax
        var bytesLeft = samplesMax
        var after = 0
        if case .measuring = purpose { (count, after) = (Self.measuredMax, current?.admittedAt ?? 0) }
        let found = owner.store.provenVersions(authority: chain.authority, atMost: count) { version in
            version.admittedAt > after && !route.hasBuilt(version) && isOfRoute(version)
        }
        return found.filter { version in
            guard version.bytes <= bytesLeft else { return false }
            bytesLeft -= version.bytes
            return true
        }
    }

    private func isOfRoute(_ version: Storage.Version) -> Bool {
        terms.routes.route(of: version).text == route.text
    }

    /// Reads the bodies one after the other; those that cannot be read are left out.
    private func load(_ rest: ArraySlice<Storage.Version>, _ samples: [TrainingSample]) {
        var (rest, samples) = (rest, samples)
        while let version = rest.popFirst() {
            if let body = owner.store.hotBody(of: version) {
                samples.append(TrainingSample(version, body))
                continue
            }
            let (left, loaded) = (rest, samples)
            return owner.store.load(version) { [self] body in
                submit { run in
                    run.load(left, loaded + (body.map { [TrainingSample(version, $0)] } ?? []))
                }
            }
        }
        switch purpose {
        case .training(let responses): train(on: samples, responses: responses)
        case .measuring: measure(samples.map(\.body))
        }
    }

    // MARK: Training

    private func train(on samples: [TrainingSample], responses: Int) {
        // The oldest first: with few resources the newer ones judge.
        guard Set(samples.map(\.resource)).count >= LearningPlan.resourcesMin,
            let split = SampleSplit(samples.reversed())
        else { return owner.failed(.fewProven, of: chain, route, now: now) }
        advance(DictionaryTraining(split: split, sizes: sizes, responses: responses))
    }

    private func advance(_ training: DictionaryTraining) {
        submit { run in
            var training = training
            // A body that cannot be coded is a fault of memory.
            guard (try? training.advance()) != nil else {
                return run.owner.failed(.noMemory, of: run.chain, run.route, now: run.now)
            }
            if training.isDone { run.judge(training) } else { run.advance(training) }
        }
    }

    private func judge(_ training: DictionaryTraining) {
        let (verdict, best) = training.outcome
        guard let best, let chosen = verdict.best, isBetter(chosen, training.heldOut) else {
            return owner.failed(.noGain, of: chain, route, now: now)
        }
        let (second, index) = (SystemClock.unixSeconds, owner.store.reader())
        let lifeSeconds = (route.dictionary?.linkMaxAge ?? 0) / 1000
        guard
            let version = owner.registry.version(
                with: best, in: chain, route.admission, index: index, now: second),
            let named = owner.registry.named(version, index: index, lifeSeconds: lifeSeconds, now: second)
        else { return owner.failed(.noMemory, of: chain, route, now: now) }
        recordPlain(bytes: verdict.plainBytes, of: verdict.bodyBytes, named, lifeSeconds)
        owner.learned(
            named, ratio: Double(verdict.plainBytes) / Double(max(1, chosen.dcb)), isFirst: current == nil,
            of: chain, route, now: second)
    }

    /// Returns true unless the present dictionary does as well.
    private func isBetter(_ chosen: TrainingVerdict.Candidate, _ heldOut: [Body]) -> Bool {
        guard let current, let body = owner.store.hotBody(of: current) else { return true }
        return chosen.dcb < sizes.average(of: heldOut, over: body, .dcb)
    }

    private func recordPlain(bytes: Int, of body: Int, _ version: Storage.Version, _ lifeSeconds: Int) {
        owner.registry.recordPlain(
            perMille: bytes * 1000 / max(1, body), of: version, lifeSeconds: lifeSeconds,
            now: SystemClock.unixSeconds)
    }

    // MARK: Measuring

    private func measure(_ bodies: [Body]) {
        guard let current, !bodies.isEmpty else {
            return owner.measured(nil, of: chain, route, now: now)
        }
        if let dictionary = owner.store.hotBody(of: current) {
            return measure(bodies, over: dictionary, current)
        }
        owner.store.load(current) { [self] body in
            submit { run in
                guard let body else { return run.owner.measured(nil, of: run.chain, run.route, now: run.now) }
                run.measure(bodies, over: body, current)
            }
        }
    }

    private func measure(_ bodies: [Body], over dictionary: Body, _ version: Storage.Version) {
        let sizes = sizes
        let (plain, over) = (
            sizes.averageBestPlain(bodies), sizes.average(of: bodies, over: dictionary, .dcb)
        )
        recordPlain(
            bytes: plain, of: bodies.reduce(0) { $0 + $1.count } / bodies.count, version,
            (route.dictionary?.linkMaxAge ?? 0) / 1000)
        owner.measured(Double(plain) / Double(max(1, over)), of: chain, route, now: now)
    }

    // MARK: Jobs

    /// Has the worker do a job; gives the run up if too many others wait.
    private func submit(_ job: @escaping @Sendable (LearningRun) -> Void) {
        let isTaken = owner.worker.submit { [self] in
            guard !owner.isStopped else { return }
            owner.timed { job(self) }
        }
        if !isTaken { owner.failed(.noProcessorTime, of: chain, route, now: now) }
    }
}
