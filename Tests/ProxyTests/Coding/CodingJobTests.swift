internal import Dictionaries
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

/// Where the work on a complete body is done, and what its exchange hears of it.
@Suite(.timeLimit(.minutes(40))) struct CodingJobTests {
    private let pool = CompressionPool(width: 1)
    private let resources: CodingResources
    private let route = Route(index: nil, .implied, in: Configuration())

    init() { resources = Self.resources(pool, memoryBytes: 256 << 20) }

    private static func resources(_ pool: CompressionPool, memoryBytes: Int) -> CodingResources {
        CodingResources(
            pool: pool, memory: MemoryBudget(bytes: memoryBytes),
            deltas: Deltas(preparedBytes: 16 << 20, cacheBytes: 16 << 20), report: { _ in })
    }

    /// Text of so many bytes, in an array of its own.
    private func text(_ count: Int, version: Int = 0) -> [UInt8] {
        Array(Feed.bytes(version: version, items: count / 100 + 1).prefix(count))
    }

    private func job(
        _ bytes: [UInt8], newest: Body? = nil, needsDigest: Bool = false, _ coding: ContentCoding,
        over dictionary: Body? = nil, levels: CodingLevels = CodingLevels(), client: ClientUse? = nil,
        _ resources: CodingResources? = nil
    ) -> CodingJob {
        CodingJob(
            bytes: bytes, newest: newest, needsDigest: needsDigest, coding: coding, dictionary: dictionary,
            scope: .public, route: route, levels: levels, resources: resources ?? self.resources,
            client: client)
    }

    /// Starts a job; returns its result if it is there at once, and else the place where it will be.
    private func start(_ job: CodingJob) -> (now: CodingJob.Result?, later: Guarded<CodingJob.Result?>) {
        var job = job
        let later = Guarded<CodingJob.Result?>(nil)
        let start = job.start(reply: { { result in later.withLock { $0 = result } } })
        if case .done(let result) = start { return (result, later) }
        return (nil, later)
    }

    private func wait(for later: Guarded<CodingJob.Result?>) throws -> CodingJob.Result {
        try waitUntil("the pool has replied") { later.withLock { $0 != nil } }
        return try #require(later.withLock { $0 })
    }

    /// Does a job to its end, and says whether that was on the loop.
    private func done(_ job: CodingJob) throws -> (result: CodingJob.Result, isOnLoop: Bool) {
        let (now, later) = start(job)
        if let now { return (now, true) }
        return (try wait(for: later), false)
    }

    @Test func `a short body is coded on the loop, unless that or its client would hold up others`() throws {
        let crowded = ClientUse()
        crowded.requests.add(9)
        let jobs = [
            job(text(16 << 10), .gzip), job(text((16 << 10) + 1), .gzip),
            job(text(4_000), .gzip, client: crowded), job(text(4_000), .gzip, client: ClientUse()),
            job(text(4_000), .br, levels: CodingLevels(br: 11)),
            job(text(4_000), .br, levels: CodingLevels(gzip: 9)),
        ]
        let ends = try jobs.map { try done($0) }
        #expect(ends.map(\.isOnLoop) == [true, false, false, true, false, true])
        for (end, job) in zip(ends, jobs) {
            #expect(try #require(end.result.coded).count < job.bytes.count)
            #expect(end.result.obstacle == nil && end.result.body == nil && !end.result.isShared)
            #expect(end.result.key == nil)
        }
    }

    @Test(arguments: [100, 40_000])
    func `a body that no coding makes shorter goes out as it is`(count: Int) throws {
        let end = try done(job(Noise.bytes(count, seed: 1), .gzip))
        #expect(end.result.coded == nil && end.result.obstacle == .notShorter)
    }

    @Test func `without a coding the job identifies the body, and nothing stands in the way`() throws {
        let end = try done(job(text(40_000), needsDigest: true, .identity))
        #expect(end.result.coded == nil && end.result.obstacle == nil && !end.isOnLoop)
    }

    @Test(arguments: [(1_000, true), (40_000, true), (2 << 20, false)])
    func `a body is known as the newest version by its bytes, and hashed only if it must be`(
        count: Int, isCompared: Bool
    ) throws {
        let bytes = [UInt8](repeating: 7, count: count)
        let newest = Body([UInt8](repeating: 7, count: count))
        let unchanged = try done(job(bytes, newest: newest, .identity))
        #expect(unchanged.result.isNewest && unchanged.result.body?.digest == newest.digest)
        #expect(unchanged.isOnLoop == isCompared, "a long one is compared elsewhere")
        let other = Array(bytes.dropLast()) + [8]
        let unknown = try done(job(other, newest: newest, .identity))
        #expect(!unknown.result.isNewest && unknown.result.body == nil)
        let hashed = try done(job(other, newest: newest, needsDigest: true, .identity))
        #expect(!hashed.result.isNewest && hashed.result.body?.digest == Digest(of: other.span))
        #expect(hashed.isOnLoop == (count == 1_000), "a short one takes less than a hop")
    }

    @Test func `a short delta is made on the loop, shared with the next, and strengthened once`() throws {
        let (dictionary, bytes) = (Body(text(5_000)), text(5_000, version: 1))
        let key = DeltaKey(
            body: Digest(of: bytes.span), dictionary: dictionary.digest, coding: .dcz, scope: .public)
        func delta() throws -> (result: CodingJob.Result, isOnLoop: Bool) {
            try done(job(bytes, needsDigest: true, .dcz, over: dictionary))
        }
        let first = try delta()
        let second = try delta()
        #expect(first.isOnLoop && second.isOnLoop)
        #expect(!first.result.isShared && second.result.isShared)
        #expect(try #require(first.result.coded).count < 2_000 && first.result.coded == second.result.coded)
        #expect(first.result.key == key && second.result.key == key)
        for client: UInt128 in 1...3 { _ = resources.deltas.cache.recordPeer(client, of: key) }
        let third = try delta()
        #expect(third.result.coded == first.result.coded)
        #expect(third.result.key == nil, "nobody need count its clients any more")
    }

    @Test func `a delta that another job makes takes no place, and counts as shared`() throws {
        let gate = Gate()
        #expect(pool.submit(bytes: 1) { _ = gate.wait() })
        let (dictionary, bytes) = (Body(text(200_000)), text(100_000, version: 1))
        // The pool hashes a body of this length, so the newest version says what it is.
        let newest = Body(text(100_000, version: 1))
        let one = job(bytes, newest: newest, .dcz, over: dictionary)
        let first = start(one)
        #expect(pool.waitingBytes == 64 << 10 + 300_000, "its dictionary is still to be indexed")
        let second = start(one)
        #expect(pool.waitingBytes == 64 << 10 + 300_000)
        #expect(first.now == nil && second.now == nil)
        gate.open()
        let (made, shared) = (try wait(for: first.later), try wait(for: second.later))
        #expect(!made.isShared && shared.isShared && made.coded != nil && made.coded == shared.coded)
        #expect(made.isNewest && shared.isNewest)
    }

    @Test func `with a dictionary that is indexed the body alone counts, and up to 64 KiB are for the loop`()
        throws
    {
        let dictionary = Body(text(200_000))
        for _ in 0..<2 { _ = try resources.deltas.prepared.use(dictionary, for: .dcz) }
        let gate = Gate()
        #expect(pool.submit(bytes: 1) { _ = gate.wait() })
        #expect(start(job(text(64 << 10, version: 1), .dcz, over: dictionary)).now?.coded != nil)
        let long = start(job(text((64 << 10) + 1, version: 1), .dcz, over: dictionary))
        #expect(long.now == nil && pool.waitingBytes == 64 << 10 + (64 << 10) + 1)
        gate.open()
        #expect(try wait(for: long.later).coded != nil)
    }

    @Test func `where the pool is full a job ends at once, unless its body was offered`() throws {
        let gate = Gate()
        #expect(pool.submit(bytes: 32 << 20) { _ = gate.wait() })
        let dictionary = Body(text(40_000))
        let jobs = [job(text(40_000), .gzip), job(text(40_000, version: 1), .dcz, over: dictionary)]
        for one in jobs {
            let refused = start(one)
            #expect(refused.now?.obstacle == .busy && refused.now?.coded == nil)
            var promised = one
            promised.mustRun = true
            #expect(start(promised).now == nil)
        }
        gate.open()
        try waitUntil("everything has run") { pool.waitingBytes == 0 }
    }

    @Test(arguments: [ContentCoding.gzip, .dcz, .dcb])
    func `without memory the pool codes nothing, and nothing stays taken`(coding: ContentCoding) throws {
        let dictionary = coding.usesDictionary ? Body(text(40_000)) : nil
        var options = EncoderOptions(bodyBytes: 40_000)
        options.dictionary = dictionary.map(DictionaryUse.reference)
        let bytes = Codec.memoryEstimate(for: coding, options: options)
        for (missing, isBusy) in [(1, true), (0, false)] {
            let resources = Self.resources(pool, memoryBytes: bytes - missing)
            for needsDigest in [true, false] {
                let end = try done(
                    job(
                        text(40_000, version: 1), needsDigest: needsDigest, coding, over: dictionary,
                        resources))
                let obstacle: Reason? = isBusy ? .busy : nil
                #expect(end.result.obstacle == obstacle && (end.result.coded == nil) == isBusy)
                #expect(!end.isOnLoop)
                #expect((end.result.body != nil) == needsDigest)
            }
            #expect(resources.memory.takenBytes == 0)
        }
    }
}
