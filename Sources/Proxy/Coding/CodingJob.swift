internal import Dictionaries
internal import HTTP

/// The work on a whole body: find out what it is, and code it.
///
/// It begins on the exchange's loop, which does what costs it no more than a hop to another thread; the rest is for the
/// pool. Whoever wants a delta that is being made waits for that one, and takes no place.
struct CodingJob: Sendable {
    /// Bodies up to this size are hashed and coded by the loop itself.
    static let inlineBytesMax = 16 << 10
    /// The same over an index that is there, which takes dcz a tenth of the time.
    static let inlineDeltaBytesMax = 64 << 10
    /// Bodies up to this size are compared by the loop: 15 µs for 800 KB, where a hop costs 10.
    static let comparedBytesMax = 1 << 20

    let bytes: [UInt8]
    /// The newest version of the same URL and variant, to compare with before hashing.
    let newest: Body?
    /// Whether the body's digest is needed: to admit it, or to make its entity tag.
    ///
    /// It is not found out for the delta cache alone: that takes longer than a delta over an index.
    let needsDigest: Bool
    let coding: ContentCoding
    let dictionary: Body?
    let scope: DeltaScope
    let route: Route
    let context: ProxyContext
    let startNanoseconds = Clock.monotonicNanoseconds
    /// Whether it is done however late, as the answer has offered the body: `store.memory` bounds how many there are.
    var isPromised = false
    private var identity = Identity.open

    /// What a body is.
    private enum Identity {
        /// It has not been compared or hashed yet.
        case open
        /// It is not the newest version, and nobody needs to know more.
        case none
        case known(Body, isNewest: Bool)
    }

    /// What the beginning of a job came to.
    enum Start {
        case done(Result)
        /// The reply will come.
        case underWay
        /// There is no place in the pool; with what is known of the body.
        case busy(Result)
    }

    /// What came of it.
    struct Result: Sendable {
        /// The body with its digest, where that is known.
        let body: Body?
        /// Whether it is the newest version once more.
        let isNewest: Bool
        /// The coded bytes; nil for identity and where there is an obstacle.
        let coded: [UInt8]?
        /// Why nothing was coded.
        let obstacle: Reason?
        /// Whether the delta was made for another request.
        let isShared: Bool
        /// The name of a delta that may still become stronger.
        let key: DeltaKey?
        let nanoseconds: Int
    }

    init(
        _ bytes: [UInt8], newest: Body?, needsDigest: Bool, coding: ContentCoding, dictionary: Body?,
        scope: DeltaScope, route: Route, context: ProxyContext
    ) {
        self.bytes = bytes
        self.newest = newest
        self.needsDigest = needsDigest
        self.coding = coding
        self.dictionary = coding.usesDictionary ? dictionary : nil
        self.scope = scope
        self.route = route
        self.context = context
    }
}

// MARK: - On the loop

extension CodingJob {
    /// Does the work here or has it done.
    mutating func start(reply: () -> CodingReply) -> Start {
        identifyHere()
        if case .open = identity { return submit(nil, reply()) }
        guard coding != .identity else { return .done(result(coded: nil)) }
        guard let key else {
            if dictionary == nil, bytes.count <= Self.inlineBytesMax, !levels.isSlow(coding) {
                return .done(codedPlain())
            }
            if let outcome = makeHere(isCached: false) { return .done(result(outcome)) }
            return submit(nil, reply())
        }
        // Asked first, for a hit needs no way back.
        if let hit = context.deltas.cache.find(key) { return .done(result(hit)) }
        return join(key, reply)
    }

    private func join(_ key: DeltaKey, _ reply: () -> CodingReply) -> Start {
        switch context.deltas.cache.join(key, { waiter(reply()) }) {
        case .hit(let hit): return .done(result(hit))
        case .waiting: return .underWay
        case .lead(let turn):
            guard let outcome = makeHere(isCached: true) else { return submit(turn, reply()) }
            turn.finish(outcome)
            return .done(result(outcome))
        }
    }

    private func submit(_ turn: DeltaTurn?, _ reply: CodingReply) -> Start {
        let isTaken = context.compressionPool.submit(bytes: workBytes, isPromised: isPromised) {
            run(turn, reply)
        }
        if isTaken { return .underWay }
        turn?.finish(.failed(.busy))
        return .busy(result(.failed(.busy)))
    }

    /// The bytes that are worked on: indexing a dictionary takes longer than coding a body of its length.
    private var workBytes: Int {
        guard let dictionary else { return bytes.count }
        let isReady = context.deltas.prepared.isReady(dictionary, for: coding, in: scope)
        return isReady ? bytes.count : bytes.count + dictionary.count
    }

    private mutating func identifyHere() {
        guard newest == nil || bytes.count <= Self.comparedBytesMax else { return }
        if let newest, newest.hasBytes(bytes) {
            identity = .known(newest, isNewest: true)
        } else if !needsDigest {
            identity = .none
        } else if bytes.count <= Self.inlineBytesMax {
            identity = .known(Body(bytes), isNewest: false)
        }
    }

    /// Makes the delta, if that is quick.
    private func makeHere(isCached: Bool) -> DeltaOutcome? {
        guard let dictionary, bytes.count <= Self.inlineDeltaBytesMax else { return nil }
        let prepared = context.deltas.prepared
        let isReady = prepared.isReady(dictionary, for: coding, in: scope)
        let isQuick =
            isReady && coding == .dcz || isReady && bytes.count <= Self.inlineBytesMax
            || bytes.count + dictionary.count <= Self.inlineBytesMax
        guard isQuick, let use = prepared.quick(dictionary, for: coding, in: scope) else { return nil }
        return checked(context.deltas.make(bytes, overQuick: use, coding, isCached: isCached))
    }
}

// MARK: - On any thread

extension CodingJob {
    /// Finds out what the body is, whatever its length.
    ///
    /// Off the loop if it is long.
    func identified() -> CodingJob {
        guard case .open = identity else { return self }
        var job = self
        // Comparing costs a fifth of hashing, and most answers are what they were. Up to a length the loop has done it.
        if bytes.count > Self.comparedBytesMax, let newest, newest.hasBytes(bytes) {
            job.identity = .known(newest, isNewest: true)
        } else {
            job.identity = needsDigest ? .known(Body(bytes), isNewest: false) : .none
        }
        return job
    }

    private func run(_ turn: DeltaTurn?, _ reply: CodingReply) {
        let job = identified()
        guard coding.usesDictionary, let dictionary else {
            return reply.send(job.withMemory { job.codedPlain() } ?? job.result(.failed(.busy)))
        }
        guard let key = job.key else {
            return reply.send(job.result(job.make(over: dictionary, isCached: false)))
        }
        if let turn { return job.lead(turn, over: dictionary, reply) }
        switch context.deltas.cache.join(key, { job.waiter(reply) }) {
        case .hit(let hit): reply.send(job.result(hit))
        case .waiting: break
        case .lead(let turn): job.lead(turn, over: dictionary, reply)
        }
    }

    private func lead(_ turn: DeltaTurn, over dictionary: Body, _ reply: CodingReply) {
        let outcome = make(over: dictionary, isCached: true)
        turn.finish(outcome)
        reply.send(result(outcome))
    }

    private func make(over dictionary: Body, isCached: Bool) -> DeltaOutcome {
        let made = withMemory {
            context.deltas.make(bytes, over: dictionary, coding, in: scope, isCached: isCached)
        }
        return checked(made ?? .failed(.busy))
    }

    /// Runs an encoder with its memory taken from what all share; nil, and nothing done, where that is used up.
    ///
    /// What a loop codes itself is small, and one at a time.
    private func withMemory<Made>(_ work: () -> Made) -> Made? {
        var options = EncoderOptions(bodyBytes: bytes.count, level: levels.given(for: coding))
        options.dictionary = dictionary.map(DictionaryUse.reference)
        return context.compressionMemory.lend(Codec.memoryEstimate(for: coding, options: options), to: work)
    }

    /// Reports a delta that is not exact; here, for the exchange may be over.
    private func checked(_ outcome: DeltaOutcome) -> DeltaOutcome {
        if case .failed(.inexact) = outcome, let dictionary {
            context.reportInexact(key, coding, dictionary: dictionary.digest, in: scope, on: route)
        }
        return outcome
    }

    private var levels: CodingLevels { context.configuration.compression.levels }

    private func waiter(_ reply: CodingReply) -> DeltaCache.Waiter {
        { outcome in reply.send(result(outcome, isShared: true)) }
    }

    /// The body without a dictionary, in the coding of the job.
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
    /// The name of the delta; nil where the body's digest is not known.
    private var key: DeltaKey? {
        guard let dictionary, case .known(let body, _) = identity else { return nil }
        return DeltaKey(body: body.digest, dictionary: dictionary.digest, coding: coding, scope: scope)
    }

    private func result(_ hit: DeltaHit) -> Result {
        result(hit.outcome, isShared: true, wantsPeers: hit.wantsPeers)
    }

    private func result(_ outcome: DeltaOutcome, isShared: Bool = false, wantsPeers: Bool = true) -> Result {
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
            nanoseconds: Int(Clock.monotonicNanoseconds - startNanoseconds))
    }
}
