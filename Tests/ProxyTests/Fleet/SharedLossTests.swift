internal import Dictionaries
internal import Foundation
internal import Primitives
internal import TestSupport
internal import Testing

@testable import Proxy
@testable import Redis
@testable import Storage

/// What a node does where it does not know whether the shared store has carried a command out.
@Suite(.timeLimit(.minutes(40))) struct SharedLossTests {
    private static let hello =
        "%4\r\n+server\r\n+redis\r\n+version\r\n+7.0.15\r\n+mode\r\n+standalone\r\n+role\r\n+master\r\n"

    /// Accepts connections at a socket, and sends the reply to each command; ends a connection where that is nil.
    private func serve(at path: String, _ reply: @escaping @Sendable ([String]) -> String?) throws {
        let listener = try WireListener(path: path)
        Thread.detachNewThread {
            while let socket = try? listener.accept() {
                Thread.detachNewThread {
                    while let words = socket.receiveCommand() {
                        switch words.first {
                        case "HELLO": socket.send(Self.hello)
                        case "PING": socket.send("+PONG\r\n")
                        default:
                            guard let text = reply(words) else { return }
                            socket.send(text)
                        }
                    }
                }
            }
        }
    }

    private func shared(at path: String) throws -> SharedStore {
        let shared = try SharedStore.ofTest(at: path)
        shared.store.sharing.share(with: StoreListener(admitted: { _, _ in }, established: { _ in }))
        shared.client.start()
        return shared
    }

    private func untilAvailable(_ client: RedisClient) throws {
        try waitUntil("the client is available") { client.isAvailable && client.isBackgroundAvailable }
    }

    private let chain = ChainKey(authority: "api.test", match: "/feed")

    @Test(arguments: [true, false])
    func `a change of holders is told again only if it is surely not there`(isExecuted: Bool) throws {
        let folder = try TemporaryFolder()
        let told = Guarded(0)
        try serve(at: folder.file("socket")) { words in
            guard words.first == "XADD" else { return "+OK\r\n" }
            told.withLock { $0 += 1 }
            // The reply is lost with the connection.
            return isExecuted ? nil : "-OOM command not allowed\r\n"
        }
        let shared = try shared(at: folder.file("socket"))
        let client = shared.client
        defer { client.stop() }
        try untilAvailable(client)
        let version = try shared.store.sharing.adopt(SharedRecord.ofTest(1, in: chain), now: 1_000)
        shared.store.demand.offered(version, over: nil, now: SystemClock.unixSeconds)
        try waitUntil("the server has read the change") {
            shared.tick()
            return told.withLock { $0 } > 0
        }
        try waitUntil("the command has ended") {
            client.counts.commands[isExecuted ? "lost" : "error"] != nil
        }
        try untilAvailable(client)
        let gate = Gate()
        try client.send([RedisCommand("PING")], .background) { _ in gate.open() }
        try #require(gate.wait())
        // What is given back is given back there.
        shared.work.sync {}
        #expect(shared.store.sharing.takeDemand(max: 10, keys: nil).isEmpty == isExecuted)
    }

    @Test func `a version that is announced only at the second try counts once, as written`() throws {
        let folder = try TemporaryFolder()
        let calls = Guarded<[String: Int]>([:])
        try serve(at: folder.file("socket")) { words in
            let name = words.first ?? ""
            let isFirst = calls.withLock { calls in
                calls[name, default: 0] += 1
                return calls[name] == 1
            }
            return switch name {
            case "SET": isFirst ? "+OK\r\n" : "_\r\n"
            case "XADD": isFirst ? "-OOM command not allowed\r\n" : "$3\r\n1-1\r\n"
            default: "+OK\r\n"
            }
        }
        let shared = try shared(at: folder.file("socket"))
        defer { shared.client.stop() }
        try untilAvailable(shared.client)
        let record = SharedRecord.ofTest(1, in: chain)
        let version = try shared.store.sharing.adopt(record, now: 1_000)
        shared.publish([shared.store.sharing.readSharable(version, record.body)])
        try waitUntil("nothing waits") { shared.publications.withLock { !$0.isScheduled } }
        #expect(calls.withLock { [$0["SET"], $0["XADD"]] } == [2, 2])
        let statistics = shared.statistics
        #expect(statistics.published == 1)
        #expect(statistics.alreadyThere == 0)
        #expect(statistics.publishFailures == 0)
    }
}
