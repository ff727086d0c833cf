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

    @Test(arguments: [true, false])
    func `a change of holders is told again only if it is surely not there`(isExecuted: Bool) throws {
        let folder = try TemporaryFolder()
        let listener = try WireListener(path: folder.path + "/socket")
        let told = Guarded(0)
        Thread.detachNewThread {
            while let socket = try? listener.accept() {
                Thread.detachNewThread {
                    while let words = socket.receiveCommand() {
                        switch words.first {
                        case "HELLO": socket.send(Self.hello)
                        case "PING": socket.send("+PONG\r\n")
                        case "XADD":
                            told.withLock { $0 += 1 }
                            // The reply is lost with the connection.
                            guard !isExecuted else { return }
                            socket.send("-OOM command not allowed\r\n")
                        default: socket.send("+OK\r\n")
                        }
                    }
                }
            }
        }
        let memory = try SharedMemory.ofTest(at: folder.path + "/socket")
        defer { memory.client.stop() }
        memory.store.share(with: StoreListener(admitted: { _, _ in }, established: { _ in }))
        memory.client.start()
        let client = memory.client
        func untilAvailable() throws {
            try waitUntil("the client is available") { client.isAvailable && client.isBackgroundAvailable }
        }
        try untilAvailable()
        let chain = ChainKey(authority: "api.test", match: "/feed")
        let version = try memory.store.adopt(SharedRecord.ofTest(1, in: chain), holders: 1, now: 1_000)
        memory.store.offered(version, over: nil, now: SystemClock.unixSeconds)
        try waitUntil("the server has read the change") {
            memory.tick()
            return told.withLock { $0 } > 0
        }
        try waitUntil("the command has ended") {
            client.counts.commands[isExecuted ? "lost" : "error"] != nil
        }
        try untilAvailable()
        let gate = Gate()
        try client.send([RedisCommand("PING")], .background) { _ in gate.open() }
        try #require(gate.wait())
        // What is given back is given back there.
        memory.work.sync {}
        #expect(memory.store.takeDemand(max: 10, keys: nil).isEmpty == isExecuted)
    }
}
