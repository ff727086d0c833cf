internal import Dictionaries
internal import Foundation
internal import Primitives
internal import Storage
internal import TestSupport

/// Life after life of a proxy on one store, each ended by kill -9 under the load of clients that outlive them all.
struct KillTrial {
    /// A lost version, or an expected event that did not happen.
    struct Failure: Error {
        let kills: Int
        let what: String
    }

    /// The number of kills, and of advertisements that had to be recognised after them.
    struct Outcome {
        var kills = 0
        var advertised = 0
    }

    private static let versionsKept = 48
    /// Versions that were offered this long before the kill are durable (the contract promises 100 ms).
    ///
    /// Both times are of an idle machine, and longer where other processes take the processors.
    private static let durableWithin = Duration.milliseconds(200)
    /// The kill comes so long, at most, after each client was offered something.
    private static let momentMillisecondsMax = 500
    private static let settings = """
        explain: true
        routes:
          - match: /feed/*
            dictionary: {delivery: in_band}
        """

    private let origin: Origin
    private let folder: TemporaryFolder
    private let firstOffer: Gate
    private let clients: [FeedClient]
    private var random: SplitMix
    private var outcome = Outcome()

    init(seed: UInt64) throws {
        let gate = Gate()
        origin = try ChangingFeed.origin()
        folder = try TemporaryFolder()
        firstOffer = gate
        clients = ChangingFeed.paths.map { FeedClient(path: $0, firstOffer: gate) }
        random = SplitMix(seed: seed)
    }

    /// Kills so often, and throws at the first dictionary that is lost or body that is wrong.
    mutating func run(kills: Int) throws -> Outcome {
        while true {
            let proxy = try ServedProxy(origin, in: folder, Self.settings)
            try check(proxy)
            guard outcome.kills < kills else { return outcome }
            try kill(proxy)
            try demand(try ForeignJudge().faults(ofStore: "\(folder.path)/store.sqlite"))
        }
    }

    /// Advertises all durable versions, and expects deltas that decode to the upstream's bodies.
    private mutating func check(_ proxy: ServedProxy) throws {
        let answers = Guarded<[ForeignJudge.Answer]>([])
        let (clients, port) = (clients, proxy.port)
        try inParallel(clients.indices) { number in
            let own = try clients[number].advertiseAll(port: port)
            answers.withLock { $0 += own }
        }
        let all = answers.withLock { $0 }
        outcome.advertised += all.count
        try demand(try ForeignJudge().faults(of: all + clients.compactMap(\.lastDelta)))
        let damaged = try proxy.metric("dictum_store_evictions_total", where: "damaged")
        try demand(damaged == 0 ? [] : ["\(damaged) bodies are damaged"])
    }

    /// Lets all clients poll, kills the proxy at a random moment, and forgets versions that need not be durable.
    private mutating func kill(_ proxy: ServedProxy) throws {
        let (done, port) = (Gate(), proxy.port)
        let slowdown = Slowdown()
        for client in clients {
            Thread.detachNewThread {
                client.poll(port: port)
                done.open()
            }
        }
        for _ in clients { try demand(firstOffer.wait(seconds: 60) ? [] : ["a client is offered nothing"]) }
        // The trial is about the random moment, so it does not wait for any event.
        let moment = Double(Int.random(in: 0...Self.momentMillisecondsMax, using: &random))
        usleep(UInt32(moment * slowdown.factor) * 1000)
        let end = ContinuousClock.now
        proxy.process.stop()
        let deadline = end - Self.durableWithin * slowdown.factor
        let status = try proxy.process.result().status
        try demand(status == 128 + 9 ? [] : ["it ended by itself, with \(status)"])
        for _ in clients { try demand(done.wait(seconds: 60) ? [] : ["a client does not notice the end"]) }
        for client in clients { client.forget(after: deadline, keeping: Self.versionsKept) }
        outcome.kills += 1
    }

    private func demand(_ faults: [String]) throws {
        guard faults.isEmpty else {
            throw Failure(kills: outcome.kills, what: faults.joined(separator: "\n"))
        }
    }
}
