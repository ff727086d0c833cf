internal import Dictionaries
internal import Foundation
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

/// The life of a learned dictionary: restarts, reloads, purges and successors, and what a training may take.
@Suite(.timeLimit(.minutes(40))) struct LearnedLifeTests {
    // MARK: Life

    @Test func `it stays over a restart, and clients that hold it get deltas`() throws {
        let folder = try TemporaryFolder()
        let proxy = try TestProxy.learning(store: folder.file("store.db"))
        let (path, dictionary) = try proxy.learnDictionary()
        proxy.stop()
        let next = try TestProxy.learning(store: folder.file("store.db"))
        #expect(try next.announcedPath() == path)
        #expect(try next.fetch(path).carries(dictionary))
        #expect(try next.fetch("/items/8", over: dictionary).coding == "dcb")
    }

    @Test func `after a restart one client's fetch is enough for what the store knows to be proven`() throws {
        let folder = try TemporaryFolder()
        let proxy = try TestProxy.learning(store: folder.file("store.db"))
        try proxy.visit()
        #expect(proxy.learnedRow?.proven == 20)
        proxy.stop()
        let next = try TestProxy.learning(store: folder.file("store.db"))
        next.server.context.learned.recordFirstVisit(
            of: Items.builtChain(), sentBytes: 0, client: 1, now: 0)
        for number in 20...49 { _ = try next.fetch("/items/\(number)", forwarded(for: 1)) }
        #expect(next.learnedRow?.proven == 20)
    }

    @Test(arguments: ["routes: [{match: \"/items/:id\"}]", "dictionaries: off\n" + LearningOrigin.settings])
    func `after a reload without it nobody gets it`(settings: String) throws {
        let proxy = try TestProxy.learning()
        let (path, dictionary) = try proxy.learnDictionary()
        try proxy.reload(settings)
        #expect(try proxy.fetch("/items/8", over: dictionary).coding == "identity")
        #expect(try proxy.fetch(path).status == 404)
        try proxy.reload(LearningOrigin.settings)
        #expect(try proxy.announcedPath() == path)
    }

    @Test func `the operator's former dictionary is not taken for one that was learned`() throws {
        let folder = try TemporaryFolder()
        let bytes = (1...3).flatMap(Items.body)
        try Data(bytes).write(to: URL(filePath: folder.file("items.dict")))
        let proxy = try TestProxy.learning(
            LearningOrigin.settings.replacing(
                "built: learned", with: "built: \"\(folder.file("items.dict"))\""))
        let former = try #require(try proxy.announcedPath())
        try proxy.reload(LearningOrigin.settings)
        #expect(try proxy.announcedPath() == nil)
        #expect(try proxy.fetch("/items/8", over: bytes).coding == "dcb", "who has it still uses it")
        #expect(try proxy.learnDictionary().path != former)
    }

    @Test func `once responses change their form, it is learned anew, and comes as a delta over the former`()
        throws
    {
        let proxy = try TestProxy.learning()
        let (former, old) = try proxy.learnDictionary()
        let context = proxy.server.context
        let version = try #require(context.store.reader().learned(of: Items.builtChain()))
        // First responses over it are 4 times shorter, and then 2 times.
        for client in 0..<BuiltSavings.plainCountMin {
            context.linkRegistry.recordFirst(
                of: Items.builtChain(), over: nil, bodyBytes: 1_000, sentBytes: 400, client: UInt128(client))
        }
        for sentBytes in [100, 200] {
            for client in 0..<BuiltSavings.windowCount {
                context.linkRegistry.recordFirst(
                    of: Items.builtChain(), over: version, bodyBytes: 1_000, sentBytes: sentBytes,
                    client: UInt128(client))
            }
        }
        #expect(proxy.learnedRow?.ratio == 2)
        try proxy.visit(items: 40...79, query: "other")
        proxy.comeBack()
        try proxy.wait(for: .replaced)
        try proxy.wait(for: .tooLittle)
        let path = try #require(try proxy.announcedPath())
        #expect(path != former)
        let new = try proxy.fetch(path).body
        let delta = try proxy.fetch(path, over: old)
        #expect(delta.coding == "dcb")
        #expect(try delta.carriesDecoded(new, over: old))
        let target = "/items/90?other"
        #expect(try proxy.fetch(target, over: old).coding == "dcb", "the former one keeps its time")
        #expect(
            try proxy.fetch(target, over: new).body.count < proxy.fetch(target, over: old).body.count)
        #expect(try proxy.fetch(former).carries(old))
    }

    @Test func `one that does not pay is compared with a new one`() throws {
        let folder = try TemporaryFolder()
        let first = try TestProxy.learning(store: folder.file("store.db"))
        let (path, _) = try first.learnDictionary()
        first.stop()
        // After a restart it is not in memory.
        let proxy = try TestProxy.learning(store: folder.file("store.db"))
        let (registry, now) = (proxy.server.context.linkRegistry, SystemClock.unixSeconds)
        registry.recordFirst(of: Items.builtChain(), over: nil, bodyBytes: 1_000, sentBytes: 100, client: 1)
        registry.changeLedger(of: Items.builtChain().hashValue) { ledger in
            for client in 0..<20 as Range<UInt128> { ledger.recordCost(1_000, of: client, at: now) }
            for time in [601, 1_202] { ledger.recordCost(1_000, of: 1 << 80, at: now + time) }
        }
        try proxy.visit()
        proxy.comeBack()
        try proxy.wait(for: .tooLittle)
        try proxy.wait(for: .noGain)
        #expect(try proxy.fetch(path).status == 200, "no better one can be made")
    }

    // MARK: What comes in between

    /// Has a training wait between its choice of versions and its reading, while something happens.
    private func train(_ proxy: TestProxy, while change: () throws -> Void) throws {
        let (first, second) = (Gate(), Gate())
        let learned = proxy.server.context.learned
        try #require(learned.worker.submit { first.wait() })
        try proxy.visit()
        proxy.comeBack()
        // In turn with the proxy's own timer, so that it has begun.
        let context = proxy.server.context
        context.shared.maintenance.sync {
            learned.keepUp(context.learningTerms, now: SystemClock.unixSeconds)
        }
        try #require(learned.worker.submit { second.wait() })
        first.open()
        try change()
        second.open()
    }

    @Test func `a purge in between reaches what was not learned yet`() throws {
        let proxy = try TestProxy.learning()
        try train(proxy) {
            let answer = try proxy.admin(
                "POST /purge?path=/items/25 HTTP/1.1", "Host: localhost", "Content-Type: application/json")
            #expect(answer.status == 200)
        }
        try proxy.wait(for: .noPlace)
        #expect(try proxy.announcedPath() == nil)
    }

    @Test func `a purge of a path forgets the dictionary, which has its text`() throws {
        let proxy = try TestProxy.learning()
        let (path, _) = try proxy.learnDictionary()
        let answer = try proxy.admin(
            "POST /purge?path=/items/25 HTTP/1.1", "Host: localhost", "Content-Type: application/json")
        #expect(answer.status == 200)
        #expect(try proxy.announcedPath() == nil)
        #expect(try proxy.fetch(path).status == 404)
    }

    @Test(arguments: [
        "dictionaries: off\n" + LearningOrigin.settings,
        LearningOrigin.settings.replacing("built: learned", with: "max_age: 60s"),
    ])
    func `a reload in between that does not want it ends it`(settings: String) throws {
        let proxy = try TestProxy.learning()
        try train(proxy) {
            try proxy.reload(settings)
            let context = proxy.server.context
            context.learned.keepUp(context.learningTerms, now: SystemClock.unixSeconds)
        }
        try proxy.wait(for: .abandoned)
        try waitUntil("all is given back") { proxy.server.context.compressionMemory.takenBytes == 0 }
        try proxy.reload(LearningOrigin.settings)
        #expect(try proxy.announcedPath() == nil)
    }

    // MARK: Budgets

    @Test func `without memory it waits, and all that a training took is given back`() throws {
        let proxy = try TestProxy.learning()
        let memory = proxy.server.context.compressionMemory
        let all = memory.limitBytes - (8 << 20)
        try proxy.visit()
        try #require(memory.reserve(all))
        proxy.comeBack()
        try proxy.wait(for: .noMemory)
        memory.release(all)
        proxy.server.context.learned.forgetFailures()
        try proxy.wait(for: .trained)
        try waitUntil("it is given back") { memory.takenBytes == 0 }
    }

    @Test func `one training uses up the processor time of many minutes`() throws {
        let proxy = try TestProxy.learning()
        proxy.server.context.learned.changeShare(to: 0.000_001)
        _ = try proxy.learnDictionary()
        try proxy.visit(host: "other.test")
        proxy.comeBack(host: "other.test")
        try proxy.wait(for: .noProcessorTime)
    }

    @Test func `a training that takes too long ends as an attempt that has failed`() throws {
        let proxy = try TestProxy.learning()
        let learned = proxy.server.context.learned
        learned.state.withLock { $0.durationNanoseconds = 0 }
        try proxy.visit()
        proxy.comeBack()
        try proxy.wait(for: .noProcessorTime)
        let attempts = learned.state.withLock { $0.records[Items.builtChain()]?.failures }
        #expect(attempts == 1)
    }

    @Test func `after the end nothing is begun`() throws {
        let proxy = try TestProxy.learning()
        try proxy.visit()
        let context = proxy.server.context
        context.learned.stop()
        proxy.comeBack()
        context.learned.keepUp(context.learningTerms, now: SystemClock.unixSeconds)
        let counts = context.learned.state.withLock { $0.counts }
        #expect(counts.keys.allSatisfy { $0.last == LearningReason.fewFirstVisits.rawValue })
        #expect(context.compressionMemory.takenBytes == 0)
    }
}
