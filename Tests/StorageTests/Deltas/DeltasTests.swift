import Dispatch
import Primitives
import TestSupport
import Testing

@testable import Dictionaries
@testable import Storage

private let corpus = Corpus.largeFeed

private func deltas(
    _ verify: Verification.Mode = .sampled, fault: FaultyEncoder.Fault? = nil
) -> Deltas {
    FaultyEncoder.with(fault) { Deltas(preparedBytes: 64 << 20, cacheBytes: 64 << 20, verify: verify) }
}

/// Makes the delta of a corpus and caches it, as a request does.
private func cached(_ deltas: Deltas, _ coding: ContentCoding, _ corpus: Corpus = corpus) -> DeltaKey {
    let key = DeltaKey(
        body: Digest(of: corpus.body.span), dictionary: corpus.dictionary.digest, coding: coding,
        scope: .public)
    if case .lead(let turn) = deltas.cache.join(key, { { _ in } }) {
        turn.finish(deltas.make(Body(corpus.body), over: corpus.dictionary, coding, in: .public))
    }
    return key
}

extension Deltas {
    /// Waits until `count` passes have ended, and returns their numbers by outcome.
    fileprivate func passes(_ count: Int) throws -> [StrongestPass.End: Int] {
        try waitUntil("\(count) passes") { statistics.passes.values.reduce(0, +) >= count }
        return statistics.passes
    }
}

@Suite(.timeLimit(.minutes(40))) struct DeltasTests {
    @Test(arguments: [ContentCoding.dcz, .dcb])
    func `a stored body over itself is as small as over a copy of it`(coding: ContentCoding) throws {
        let deltas = deltas()
        // The first delta is made by reference, the second one over an index.
        for _ in 1...2 {
            let once = deltas.makeOnce(
                corpus.dictionary.bytes, over: corpus.dictionary, coding, in: .public)
            guard case .coded(let coded) = once else { return #expect(Bool(false), "\(once)") }
            #expect(coded.count < 200)
            let cached = deltas.make(corpus.dictionary, over: corpus.dictionary, coding, in: .public)
            guard case .coded(let delta) = cached else { return #expect(Bool(false), "\(cached)") }
            #expect(delta.bytes.count < 200)
        }
    }

    // MARK: Verification

    @Test(arguments: [ContentCoding.dcz, .dcb])
    func `a delta with any one byte changed is not exact`(coding: ContentCoding) throws {
        let corpus = Corpus.smallFeed
        let coded = try corpus.encoded(coding)
        #expect(VerifiedDelta.isExact(coded, coding, dictionary: corpus.dictionary, body: corpus.body))
        for place in coded.indices {
            var wrong = coded
            wrong[place] ^= 0x10
            // The last byte of a brotli stream may have unused bits; a delta that still decodes to the body is
            // exact.
            let decoded = try? corpus.decoded(wrong, coding)
            #expect(
                VerifiedDelta.isExact(wrong, coding, dictionary: corpus.dictionary, body: corpus.body)
                    == (decoded == corpus.body), "byte \(place)")
            if place < 36 { #expect(decoded == nil, "byte \(place) of the header") }
        }
    }

    @Test(arguments: [ContentCoding.dcz, .dcb])
    func `a delta cut short, prolonged, of another body or over another dictionary is not exact`(
        coding: ContentCoding
    ) throws {
        let corpus = Corpus.smallFeed
        let coded = try corpus.encoded(coding)
        let isExact = { (coded: [UInt8], dictionary: Body, body: [UInt8]) in
            VerifiedDelta.isExact(coded, coding, dictionary: dictionary, body: body)
        }
        #expect(!isExact(coded.dropLast(), corpus.dictionary, corpus.body))
        #expect(!isExact(coded + [0], corpus.dictionary, corpus.body))
        #expect(!isExact([], corpus.dictionary, corpus.body))
        #expect(!isExact(coded, corpus.dictionary, Array(corpus.body.dropLast())))
        #expect(!isExact(coded, corpus.dictionary, corpus.body + [0]))
        #expect(!isExact(coded, Body(Noise.bytes(12_000, seed: 3)), corpus.body))
        // The right digest on the wrong bytes, which the checksum and the comparison have to notice.
        var changed = corpus.dictionary.bytes
        changed[5_000] ^= 1
        #expect(
            !isExact(coded, Body(changed, digest: corpus.dictionary.digest), corpus.body)
                || (try? Codec.decode(
                    coded.span, coding, dictionary: Body(changed, digest: corpus.dictionary.digest),
                    limits: roomyLimits)) == corpus.body
        )
    }

    @Test(arguments: Corpus.all, [ContentCoding.dcz, .dcb])
    func `every delta that an encoder makes is exact`(corpus: Corpus, coding: ContentCoding) throws {
        let coded = try corpus.encoded(coding)
        #expect(VerifiedDelta.isExact(coded, coding, dictionary: corpus.dictionary, body: corpus.body))
    }

    @Test func `sampled checks one in a hundred, and the first of each index`() {
        let sampled = Verification(.sampled)
        let checks = (0..<1_000).filter { _ in sampled.sample(isFirstOfIndex: false) }.count
        #expect(checks == 10)
        #expect(sampled.sample(isFirstOfIndex: false), "as many as its place in the hundred says")
        #expect(sampled.sample(isFirstOfIndex: true))
        #expect(!sampled.sample(isFirstOfIndex: false))
        #expect((0..<100).allSatisfy { _ in Verification(.always).sample(isFirstOfIndex: false) })
        #expect(!Verification(.never).sample(isFirstOfIndex: true))
    }

    @Test(arguments: [
        (Verification.Mode.always, false, 5), (.never, false, 0), (.never, true, 5), (.sampled, true, 5),
        // The first delta of all is verified, and the first over the index, which is the second.
        (.sampled, false, 2),
    ])
    func `what is cached is always checked, the rest as the setting says`(
        mode: Verification.Mode, isCached: Bool, checks: Int
    ) {
        let deltas = deltas(mode)
        for _ in 0..<5 {
            if isCached {
                _ = deltas.make(Body(corpus.body), over: corpus.dictionary, .dcz, in: .public)
            } else {
                _ = deltas.makeOnce(corpus.body, over: corpus.dictionary, .dcz, in: .public)
            }
        }
        #expect(deltas.statistics.checks == checks)
        #expect(deltas.statistics.failures == 0)
    }

    @Test(arguments: [ContentCoding.dcz, .dcb])
    func `a delta that was changed fails its check, is counted, and is not kept`(coding: ContentCoding) {
        let deltas = deltas(.never, fault: { $0[$0.count / 2] ^= 0x40 })
        let key = cached(deltas, coding)
        #expect(deltas.cache.find(key) == nil)
        #expect(deltas.statistics.failures == 1)
        #expect(
            deltas.make(Body(corpus.body), over: corpus.dictionary, coding, in: .public)
                == .failed(.inexact))
    }

    @Test func `a delta that would be no shorter is none`() {
        let noise = Corpus.noise
        #expect(
            deltas().make(Body(noise.body), over: noise.dictionary, .dcz, in: .public) == .notShorter)
        #expect(
            deltas().makeOnce(noise.body, over: noise.dictionary, .dcz, in: .public) == .notShorter)
    }

    @Test func `the first delta of an index is checked though it would be no shorter`() {
        let noise = Corpus.noise
        let (whole, once) = (deltas(), deltas())
        // The first delta is made by reference, the second one over an index.
        for _ in 1...2 {
            _ = whole.make(Body(noise.body), over: noise.dictionary, .dcz, in: .public)
            _ = once.makeOnce(noise.body, over: noise.dictionary, .dcz, in: .public)
        }
        #expect(whole.statistics.prepared.indexed == 1 && whole.statistics.checks == 1)
        #expect(once.statistics.prepared.indexed == 1 && once.statistics.checks == 1)
    }

    @Test func `a stream without its end is not exact, though all of the body has come`() throws {
        let corpus = Corpus.smallFeed
        let options = EncoderOptions(
            bodyBytes: corpus.body.count, dictionary: .reference(corpus.dictionary))
        let cut: FaultyEncoder.Fault = { $0.removeLast() }
        for isExact in [true, false] {
            let fault = isExact ? nil : cut
            let deltas = deltas(fault: fault)
            let encoder = try deltas.encoder(for: .dcz, options: options, isChecked: true)
            var coded: [UInt8] = []
            let end: Void? = try? encoder.encode(corpus.body.span, .end, into: &coded)
            #expect((end != nil) == isExact && coded.isEmpty != isExact)
            #expect(deltas.statistics.checks == 1 && deltas.statistics.failures == (isExact ? 0 : 1))
        }
    }

    // MARK: The strongest setting

    /// Makes a pass over a cached delta.
    private static func pass(
        _ key: DeltaKey, _ inputs: (body: Body, dictionary: Body)?, hasMemory: Bool = true,
        onInexact: @escaping @Sendable () -> Void = {}
    ) -> StrongestPass {
        StrongestPass(
            key: key, inputs: { inputs },
            withMemory: { _, work in
                if hasMemory { work() }
                return hasMemory
            }, onInexact: onInexact)
    }

    @Test(arguments: [ContentCoding.dcz, .dcb])
    func `the strongest setting takes the place of a longer delta, and is exact`(coding: ContentCoding)
        async throws
    {
        let deltas = deltas()
        let key = cached(deltas, coding)
        guard case .coded(let live)? = deltas.cache.find(key)?.outcome else {
            Issue.record("not cached")
            return
        }
        deltas.strengthen(Self.pass(key, (Body(corpus.body), corpus.dictionary)))
        #expect(try deltas.passes(1) == [.replaced: 1])
        guard case .coded(let strongest)? = deltas.cache.find(key)?.outcome else {
            Issue.record("no longer cached")
            return
        }
        #expect(strongest.count < live.count)
        #expect(try corpus.decoded(strongest, coding) == corpus.body)
        // Level 19 with long-distance matching, quality 11.
        #expect(try strongest == corpus.encoded(coding, effort: .kept))
        #expect(deltas.statistics.checks == 2)
    }

    @Test(arguments: [ContentCoding.dcz, .dcb])
    func `the strongest setting asks for the memory that it takes`(coding: ContentCoding) throws {
        let deltas = deltas()
        let asked = Guarded(0)
        let inputs = (body: Body(corpus.body), dictionary: corpus.dictionary)
        deltas.strengthen(
            StrongestPass(
                key: cached(deltas, coding), inputs: { inputs },
                withMemory: { bytes, work in
                    asked.withLock { $0 = bytes }
                    work()
                    return true
                }, onInexact: {}))
        #expect(try deltas.passes(1) == [.replaced: 1])
        let options = EncoderOptions(
            bodyBytes: corpus.body.count, effort: .kept, dictionary: .reference(corpus.dictionary))
        #expect(asked.withLock { $0 } == Codec.memoryEstimate(for: coding, options: options))
    }

    @Test func `a delta that is as short already stays`() async throws {
        let deltas = deltas()
        let key = cached(deltas, .dcz)
        let inputs = (Body(corpus.body), corpus.dictionary)
        deltas.strengthen(Self.pass(key, inputs))
        #expect(try deltas.passes(1) == [.replaced: 1])
        let strongest = deltas.cache.find(key)?.outcome
        deltas.strengthen(Self.pass(key, inputs))
        #expect(try deltas.passes(2) == [.replaced: 1, .kept: 1])
        #expect(deltas.cache.find(key)?.outcome == strongest)
    }

    @Test func `a strongest delta that is not exact is reported, and the live one stays`() async throws {
        let hasFault = Guarded(false)
        let reports = Guarded(0)
        let deltas = deltas(fault: { if hasFault.withLock({ $0 }) { $0[$0.count - 6] ^= 1 } })
        let key = cached(deltas, .dcz)
        let live = deltas.cache.find(key)?.outcome
        hasFault.withLock { $0 = true }
        deltas.strengthen(
            Self.pass(
                key, (Body(corpus.body), corpus.dictionary), onInexact: { reports.withLock { $0 += 1 } }))
        #expect(try deltas.passes(1) == [.failed: 1])
        #expect(deltas.cache.find(key)?.outcome == live)
        #expect(reports.withLock { $0 } == 1)
    }

    @Test func `a body that is no longer current, and a delta that has gone, cost nothing`() async throws {
        let deltas = deltas()
        let key = cached(deltas, .dcz)
        func ask(_ addresses: ClosedRange<UInt128>) -> Bool {
            addresses.map { deltas.cache.recordPeer($0, of: key) }.last == true
        }
        #expect(ask(1...3), "now it is worth the strongest coding")
        deltas.strengthen(Self.pass(key, nil))
        #expect(try deltas.passes(1) == [.stale: 1])
        #expect(deltas.cache.find(key)?.wantsPeers == true && ask(4...4), "the next who asks tries again")
        let gone = DeltaKey(
            body: corpus.dictionary.digest, dictionary: corpus.dictionary.digest, coding: .dcz, scope: .public
        )
        deltas.strengthen(Self.pass(gone, (corpus.dictionary, corpus.dictionary)))
        #expect(try deltas.passes(2) == [.stale: 2])
        deltas.strengthen(Self.pass(key, (Body(corpus.body), corpus.dictionary), hasMemory: false))
        #expect(try deltas.passes(3) == [.stale: 2, .dropped: 1])
        #expect(deltas.cache.find(key)?.wantsPeers == true)
    }

    @Test func `64 passes wait, and the next is dropped`() async throws {
        let deltas = deltas()
        let key = cached(deltas, .dcz)
        let (begun, gate) = (Gate(), Gate())
        let blocking = StrongestPass(
            key: key,
            inputs: {
                begun.open()
                gate.wait()
                return nil
            }, withMemory: { _, _ in false }, onInexact: {})
        deltas.strengthen(blocking)
        begun.wait()
        for _ in 0..<64 { deltas.strengthen(Self.pass(key, nil)) }
        #expect(deltas.statistics.passes == [:])
        deltas.strengthen(Self.pass(key, nil))
        #expect(deltas.statistics.passes == [.dropped: 1])
        gate.open()
        #expect(try deltas.passes(66) == [.dropped: 1, .stale: 65])
    }
}
