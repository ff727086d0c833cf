import Foundation
import HTTP
import Primitives
import Redis
import TestSupport
import Testing

/// The connections of requests, one on each of their loops.
@Suite(
    .enabled(if: RedisServer.program != nil, Comment(rawValue: RedisServer.absence)), .timeLimit(.minutes(40))
)
struct RequestLoopTests {
    /// A client with two loops of requests.
    private final class LoopClient {
        let loops = ["first", "second"].map { EventLoop(label: $0) }
        let client: RedisClient
        private let server: RedisServer

        init(_ server: RedisServer) throws {
            self.server = server
            client = RedisClient(settings: RedisSettings(address: .unix(path: server.socket))) { _ in }
            client.start(requestsOn: loops)
            try waitUntil("three connections are ready") { hasReady(3) }
        }

        /// True once all of so many connections have been made ready; each takes four commands, and one has a fifth.
        func hasReady(_ connections: Int) -> Bool {
            counts.connections == connections && counts.commands["ok", default: 0] > 4 * connections
        }

        var counts: RedisStatistics { client.counts }

        deinit {
            client.stop()
            for loop in loops {
                loop.stop()
                loop.join()
            }
        }
    }

    /// The numbers of a server's connections other than that of `test`.
    private func others(_ test: TestClient) throws -> Set<String> {
        let own = try #require(try test.ask(RedisCommand("CLIENT", "ID")).integer)
        let list = try #require(try test.ask(RedisCommand("CLIENT", "LIST")).text)
        let numbers = list.split(separator: "\n").compactMap { line in
            line.split(separator: " ").first { $0.hasPrefix("id=") }.map { String($0.dropFirst(3)) }
        }
        return Set(numbers).subtracting(["\(own)"])
    }

    @Test func `a command of a request and its reply stay on the loop of the request`() throws {
        let test = try LoopClient(RedisServer())
        for loop in test.loops {
            let threads = Guarded<[UInt]>([])
            loop.execute { [client = test.client] core in
                threads.withLock { $0.append(pthread_self()) }
                try? client.send([RedisCommand("PING")], .request, on: core) { _ in
                    threads.withLock { $0.append(pthread_self()) }
                }
            }
            try waitUntil("a reply") { threads.withLock { $0.count } == 2 }
            #expect(threads.withLock { $0[0] == $0[1] })
        }
    }

    @Test func `while one loop has no connection, requests of the others go on`() throws {
        let server = try RedisServer()
        let observer = try TestClient(server)
        let before = try others(observer)
        let test = try LoopClient(server)
        let own = try others(observer).subtracting(before).sorted { Int($0) ?? 0 < Int($1) ?? 0 }
        #expect(own.count == 3)
        // Each of them in turn, as it is not known which is whose.
        for (index, number) in own.enumerated() {
            #expect(try observer.ask(RedisCommand("CLIENT", "KILL", "ID", number)) == .integer(1))
            var wasClosed = false
            try waitUntil("a new connection is ready") {
                wasClosed = wasClosed || !test.client.isAvailable
                return test.hasReady(4 + index)
            }
            #expect(!wasClosed)
        }
        #expect(test.counts.breaker == .closed)
    }

    @Test func `an ended client has closed the connections of all loops`() throws {
        let server = try RedisServer()
        let observer = try TestClient(server)
        let before = try others(observer)
        let test = try LoopClient(server)
        test.client.stop()
        #expect(!test.client.isAvailable)
        try waitUntil("they are closed") { try others(observer) == before }
    }
}
