internal import Dictionaries
internal import Primitives
internal import Storage

/// The work on a complete body: identify it and code it.
///
/// It starts on the exchange's loop, which does everything that is cheaper than a hop to another thread. The pool does
/// the rest. A job whose delta another job is making waits for that delta and takes no place in the pool.
struct CodingJob: Sendable {
    /// Bodies up to this size are hashed and coded on the loop, the latter only for clients with few requests under way.
    static let inlineBytesMax = 16 << 10
    /// The same limit when the dictionary's index exists, which makes dcz ten times faster.
    static let inlineDeltaBytesMax = 64 << 10
    /// Bodies up to this size are compared at once on the loop: 800 KB take 15 µs, and a hop takes 10.
    static let comparedBytesMax = 1 << 20

    let bytes: [UInt8]
    /// The newest version of the same URL and variant, which is compared before hashing.
    let newest: Body?
    /// True if admission or the entity tag needs the body's digest.
    ///
    /// The delta cache alone does not justify it: hashing takes longer than a delta over an index.
    let needsDigest: Bool
    let coding: ContentCoding
    let dictionary: Body?
    let scope: DeltaScope
    let route: Route
    let levels: CodingLevels
    let resources: CodingResources
    var client: ClientUse?
    let startNanoseconds = SystemClock.monotonicNanoseconds
    /// True if the response has already offered the body, so that the pool must accept the job; `memory.store` bounds
    /// the number of such jobs.
    var mustRun = false
    var identity = Identity.open

    enum Identity {
        /// Neither compared nor hashed yet.
        case open
        /// Not the newest version; the digest is not needed.
        case none
        case known(Body, isNewest: Bool)
    }

    enum Start {
        case done(Result)
        /// The reply follows.
        case underWay
    }

    /// Takes the result back to the exchange that waits for it; called on any thread.
    typealias Reply = @Sendable (Result) -> Void

    struct Result: Sendable {
        /// The body with its digest, if that is known.
        let body: Body?
        /// True if it equals the newest version.
        let isNewest: Bool
        /// The coded bytes, or nil for identity or after an obstacle.
        let coded: [UInt8]?
        let obstacle: Reason?
        /// True if another request made the delta.
        let isShared: Bool
        /// The key of a delta that the strongest pass may still improve.
        let key: DeltaKey?
        let nanoseconds: Int
    }
}

// MARK: - On the loop

extension CodingJob {
    /// Does the work on the loop, or submits it to the pool.
    mutating func start(reply: () -> Reply) -> Start {
        identifyHere()
        if case .open = identity { return submit(nil, reply()) }
        guard coding != .identity else { return .done(result(coded: nil)) }
        guard let key, let body = knownBody else {
            if dictionary == nil, bytes.count <= Self.inlineBytesMax, !levels.isSlow(coding),
                client?.isCrowded != true
            {
                return .done(codedPlain())
            }
            guard let quick = quickDictionary else { return submit(nil, reply()) }
            return .done(result(reported(resources.deltas.makeOnce(bytes, by: quick, coding))))
        }
        // Look up the cache first: a hit needs no reply closure.
        if let hit = resources.deltas.cache.find(key) { return .done(result(hit)) }
        return join(key, body, reply)
    }

    private func join(_ key: DeltaKey, _ body: Body, _ reply: () -> Reply) -> Start {
        switch resources.deltas.cache.join(key, isCrowded: client?.isCrowded == true, { waiter(reply()) }) {
        case .hit(let hit): return .done(result(hit))
        case .waiting: return .underWay
        case .lead(let turn):
            guard let quick = quickDictionary else { return submit(turn, reply()) }
            return .done(finish(turn, with: resources.deltas.make(body, by: quick, coding, in: scope)))
        }
    }

    private func submit(_ turn: DeltaTurn?, _ reply: @escaping Reply) -> Start {
        let isTaken = resources.pool.submit(bytes: workBytes, for: client, mustRun: mustRun) {
            run(turn, reply)
        }
        if isTaken { return .underWay }
        turn?.finish(.failed(.busy))
        return .done(result(.failed(.busy)))
    }

    /// Indexing a dictionary takes longer than coding a body of its length, so its bytes count too.
    private var workBytes: Int {
        guard let dictionary else { return bytes.count }
        let isReady = resources.deltas.prepared.isReady(dictionary, for: coding, in: scope)
        return isReady ? bytes.count : bytes.count + dictionary.count
    }

    private mutating func identifyHere() {
        // A body that shares the memory of the newest version was compared while it arrived, or comes from the store.
        let isQuick = newest?.hasMemory(of: bytes) != false || bytes.count <= Self.comparedBytesMax
        guard isQuick else { return }
        if let newest, newest.hasBytes(bytes) {
            identity = .known(newest, isNewest: true)
        } else if !needsDigest {
            identity = .none
        } else if bytes.count <= Self.inlineBytesMax {
            identity = .known(Body(bytes), isNewest: false)
        }
    }

    /// The dictionary, if a delta over it is quick enough for the loop.
    private var quickDictionary: DictionaryUse? {
        guard let dictionary, bytes.count <= Self.inlineDeltaBytesMax else { return nil }
        let prepared = resources.deltas.prepared
        let isReady = prepared.isReady(dictionary, for: coding, in: scope)
        let isQuick =
            isReady && coding == .dcz && scope != .built || isReady && bytes.count <= Self.inlineBytesMax
            || bytes.count + dictionary.count <= Self.inlineBytesMax
        return isQuick ? prepared.quick(dictionary, for: coding, in: scope) : nil
    }
}

// MARK: - On any thread

extension CodingJob {
    /// Identifies a body of any length; runs off the loop if the body is long.
    func identified() -> CodingJob {
        guard case .open = identity else { return self }
        var job = self
        // Comparing costs a fifth of hashing, and most bodies are unchanged. The loop has compared the shorter ones, and the beginnings of longer ones.
        if bytes.count > Self.comparedBytesMax, let newest, newest.hasBytes(bytes) {
            job.identity = .known(newest, isNewest: true)
        } else {
            job.identity = needsDigest ? .known(Body(bytes), isNewest: false) : .none
        }
        return job
    }

    private func run(_ turn: DeltaTurn?, _ reply: @escaping Reply) {
        let job = identified()
        guard coding.usesDictionary, let dictionary else {
            return reply(job.withMemory { job.codedPlain() } ?? job.result(.failed(.busy)))
        }
        guard let key = job.key, let body = job.knownBody else {
            return reply(job.result(job.makeOnce(over: dictionary)))
        }
        if let turn {
            // Another client's turn may have made it while this one waited.
            if turn.isCrowded, let hit = resources.deltas.cache.find(key) { return reply(job.result(hit)) }
            return reply(job.finish(turn, with: job.made(body, over: dictionary)))
        }
        let coded = job.joined(key, waiter: { job.waiter(reply) }) { job.made(body, over: dictionary) }
        if let coded { reply(coded) }
    }

    /// Makes the delta of an identified body on the calling thread, which is no loop; nil while another thread makes it.
    func codedHere() -> Result? {
        guard let dictionary, let key, let body = knownBody else { return nil }
        return joined(key, waiter: { { _ in } }) {
            // In the form that the loop would use, if it is quick enough for that.
            quickDictionary.map { resources.deltas.make(body, by: $0, coding, in: scope) }
                ?? made(body, over: dictionary)
        }
    }

    /// Returns the delta that is there, or is made now; nil while another job makes it, whose outcome `waiter` gets.
    private func joined(
        _ key: DeltaKey, waiter: () -> DeltaCache.Waiter, make: () -> DeltaOutcome<VerifiedDelta>
    ) -> Result? {
        switch resources.deltas.cache.join(key, waiter) {
        case .hit(let hit): result(hit)
        case .waiting: nil
        case .lead(let turn): finish(turn, with: make())
        }
    }

    private func made(_ body: Body, over dictionary: Body) -> DeltaOutcome<VerifiedDelta> {
        withMemory { resources.deltas.make(body, over: dictionary, coding, in: scope) } ?? .failed(.busy)
    }

    private func finish(_ turn: DeltaTurn, with made: DeltaOutcome<VerifiedDelta>) -> Result {
        let outcome = reported(made)
        turn.finish(outcome)
        return result(outcome.bytes)
    }

    private func makeOnce(over dictionary: Body) -> DeltaOutcome<[UInt8]> {
        let made = withMemory { resources.deltas.makeOnce(bytes, over: dictionary, coding, in: scope) }
        return reported(made ?? .failed(.busy))
    }

    /// Runs an encoder with memory from the shared budget; returns nil, without running it, if the budget is used up.
    ///
    /// Bodies coded on the loop are small and need no budget.
    private func withMemory<Made>(_ work: () -> Made) -> Made? {
        var options = EncoderOptions(bodyBytes: bytes.count, level: levels.given(for: coding))
        options.dictionary = dictionary.map(DictionaryUse.reference)
        return resources.memory.lend(Codec.memoryEstimate(for: coding, options: options), to: work)
    }

    /// Reports an inexact delta, because the exchange may have ended; returns the outcome.
    private func reported<Delta>(_ outcome: DeltaOutcome<Delta>) -> DeltaOutcome<Delta> {
        if case .failed(.inexact) = outcome, let dictionary {
            resources.reportInexact(key, coding, dictionary: dictionary.digest, in: scope, on: route)
        }
        return outcome
    }

    private func waiter(_ reply: @escaping Reply) -> DeltaCache.Waiter {
        { outcome in reply(result(outcome, isShared: true)) }
    }

    private func codedPlain() -> Result {
        guard coding != .identity else { return result(coded: nil) }
        let options = EncoderOptions(bodyBytes: bytes.count, level: levels.given(for: coding))
        guard let coded = try? Codec.encode(bytes.span, coding, options: options) else {
            return result(coded: nil, obstacle: .codingFailed)
        }
        return coded.count < bytes.count ? result(coded: coded) : result(coded: nil, obstacle: .notShorter)
    }
}

// MARK: - Results

extension CodingJob {
    /// The body with its digest, or nil while that is unknown.
    private var knownBody: Body? {
        if case .known(let body, _) = identity { body } else { nil }
    }

    /// The cache key of the delta, or nil while the body's digest is unknown.
    private var key: DeltaKey? {
        guard let dictionary, let body = knownBody else { return nil }
        return DeltaKey(body: body.digest, dictionary: dictionary.digest, coding: coding, scope: scope)
    }

    private func result(_ hit: DeltaHit) -> Result {
        result(hit.outcome, isShared: true, wantsPeers: hit.wantsPeers)
    }

    private func result(
        _ outcome: DeltaOutcome<[UInt8]>, isShared: Bool = false, wantsPeers: Bool = true
    ) -> Result {
        switch outcome {
        case .coded(let coded):
            result(coded: coded, isShared: isShared, key: wantsPeers ? key : nil)
        case .notShorter: result(coded: nil, obstacle: .notShorter, isShared: isShared)
        case .failed(.coding): result(coded: nil, obstacle: .codingFailed, isShared: isShared)
        case .failed(.inexact): result(coded: nil, obstacle: .verifyFailed, isShared: isShared)
        case .failed(.busy): result(coded: nil, obstacle: .busy, isShared: isShared)
        }
    }

    private func result(
        coded: [UInt8]?, obstacle: Reason? = nil, isShared: Bool = false, key: DeltaKey? = nil
    ) -> Result {
        var body: Body?
        var isNewest = false
        if case .known(let known, let isSame) = identity { (body, isNewest) = (known, isSame) }
        return Result(
            body: body, isNewest: isNewest, coded: coded, obstacle: obstacle, isShared: isShared, key: key,
            nanoseconds: Int(SystemClock.monotonicNanoseconds - startNanoseconds))
    }
}
