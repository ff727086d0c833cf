internal import Dictionaries
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

/// Tests many clients at once that hold random versions.
@Suite(.timeLimit(.minutes(40))) struct CrowdTrialTests {
    private static let clientCount = 64
    private static let versionCount = 16
    private static let rounds = 3
    private static let path = 3

    @Test func `64 clients on 16 versions at once get exact bodies, and each delta is made once`() throws {
        let folder = try TemporaryFolder()
        let proxy = try ServedProxy(
            ChangingFeed.origin(), in: folder, "routes: [{match: /feed/*}]")
        let versions = (0...Self.versionCount).map { ChangingFeed.bytes(path: Self.path, version: $0) }
        let socket = try WireSocket(port: proxy.port)
        for version in versions.indices.dropLast() {
            let answer = try socket.get(ChangingFeed.target(path: Self.path, version: version))
            try #require(answer.body == versions[version] && answer["Use-As-Dictionary"] != nil)
        }
        let clients = try (0..<Self.clientCount).map { _ in Guarded(try WireSocket(port: proxy.port)) }
        let answers = Guarded<[ForeignJudge.Answer]>([])
        try inParallel(clients.indices) { number in
            for round in 0..<Self.rounds {
                let held = number % Self.versionCount
                let coding = (number / Self.versionCount + round) % 2 == 0 ? "dcz" : "dcb"
                let answer = try clients[number].withLock { socket in
                    try socket.get(
                        ChangingFeed.target(path: Self.path, version: Self.versionCount), coding,
                        over: versions[held])
                }
                let judged = ForeignJudge.Answer(
                    name: "client \(number) in round \(round) over version \(held)",
                    coding: answer["Content-Encoding"] == coding ? coding : "none",
                    dictionary: versions[held], wire: answer.body, body: versions[Self.versionCount])
                answers.withLock { $0.append(judged) }
            }
        }
        let all = answers.withLock { $0 }
        #expect(all.count == Self.clientCount * Self.rounds)
        #expect(try ForeignJudge().faults(of: all) == [])
        // Every version over which there is a delta, in both codings.
        let made = try proxy.metric("dictum_delta_cache_lookups_total", where: "miss")
        #expect(made == Double(Self.versionCount * 2))
    }
}
