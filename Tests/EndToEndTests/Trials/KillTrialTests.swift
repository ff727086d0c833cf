internal import Dictionaries
internal import Foundation
internal import TestSupport
internal import Testing

/// The program is killed at random moments while clients poll a feed that changes, and started again on its store.
@Suite(.timeLimit(.minutes(5))) struct KillTrialTests {
    private static let killCount = 50
    private static let versionsKept = 48
    /// What was offered this long before the kill is durable (the contract promises 100 ms).
    private static let durableWithin = Duration.milliseconds(200)
    private static let settings = """
        explain: true
        routes:
          - match: /feed/*
            dictionary: {versions: \(versionsKept), delivery: in_band}
        """

    @Test func `what was offered 200 ms before a kill -9 is used after the restart, 50 times`() throws {
        // In the environment: the seed of a run that failed.
        let given = ProcessInfo.processInfo.environment["DICTUM_TRIAL_SEED"].flatMap { UInt64($0) }
        let seed = given ?? .random(in: 0...UInt64(UInt32.max))
        print("kill -9: DICTUM_TRIAL_SEED=\(seed)")
        var random = SplitMix(seed: seed)
        let (origin, folder) = (try ChangingFeed.origin(), try TemporaryFolder())
        let firstOffer = Gate()
        let clients = ChangingFeed.paths.map { FeedClient(path: $0, firstOffer: firstOffer) }
        var advertised = 0
        for round in 0...Self.killCount {
            let proxy = try ServedProxy(origin, in: folder, Self.settings)
            let answers = try advertiseAll(clients, port: proxy.port)
            advertised += answers.count
            let faults = try ForeignJudge().faults(of: answers + clients.compactMap(\.lastDelta))
            try #require(faults == [], "after kill \(round)")
            try #require(try proxy.metric("dictum_store_evictions_total", where: "damaged") == 0)
            if round == Self.killCount { break }
            let moment = Int.random(in: 0...500, using: &random)
            try kill(proxy, under: clients, firstOffer: firstOffer, milliseconds: moment)
            try #require(try ForeignJudge().faults(ofStore: "\(folder.path)/store.sqlite") == [])
        }
        print(
            "kill -9: \(advertised) dictionaries advertised, all used; the last \(clients.map(\.lastAsked))"
        )
        #expect(advertised > Self.killCount * clients.count, "something was there to be lost")
    }

    /// Lets all clients poll, kills the proxy so long after each was offered something, and settles what is due.
    private func kill(
        _ proxy: ServedProxy, under clients: [FeedClient], firstOffer: Gate, milliseconds: Int
    ) throws {
        let (done, port) = (Gate(), proxy.port)
        for client in clients {
            Thread.detachNewThread {
                client.poll(port: port)
                done.open()
            }
        }
        for _ in clients { try #require(firstOffer.wait(), "every client is offered something") }
        // The random moment is what is tried; nothing waits for anything here.
        usleep(UInt32(milliseconds) * 1000)
        let deadline = ContinuousClock.now - Self.durableWithin
        proxy.process.stop()
        try #require(try proxy.process.result().status == 128 + 9)
        for _ in clients { try #require(done.wait()) }
        for client in clients { client.forget(after: deadline, keeping: Self.versionsKept) }
    }

    private func advertiseAll(_ clients: [FeedClient], port: UInt16) throws -> [ForeignJudge.Answer] {
        let answers = Guarded<[ForeignJudge.Answer]>([])
        try inParallel(clients.indices) { number in
            let own = try clients[number].advertiseAll(port: port)
            answers.withLock { $0 += own }
        }
        return answers.withLock { $0 }
    }
}
