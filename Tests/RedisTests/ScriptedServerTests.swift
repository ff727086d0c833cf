import Foundation
import HTTP
import Primitives
import TestSupport
import Testing

@testable import Redis

/// The client before servers whose bytes the test writes.
@Suite(.timeLimit(.minutes(40)))
struct ScriptedServerTests {
    private static let hello =
        "%4\r\n+server\r\n+redis\r\n+version\r\n+7.0.15\r\n+mode\r\n+standalone\r\n+role\r\n+master\r\n"

    /// Accepts connections and has `serve` answer each command by its name; nil for no reply.
    private static func serve(
        _ listener: WireListener, _ reply: @escaping @Sendable ([String]) -> String?
    ) {
        Thread.detachNewThread {
            while let socket = try? listener.accept() {
                Thread.detachNewThread {
                    while let words = socket.receiveCommand() {
                        let text: String?
                        switch words.first {
                        case "HELLO": text = hello
                        case "PING" where words.count == 1: text = "+PONG\r\n"
                        // What comes behind the client's own question waits for its reply.
                        case "INFO": text = "$0\r\n\r\n"
                        default: text = reply(words)
                        }
                        if let text { socket.send(text) }
                    }
                }
            }
        }
    }

    private static func settings(_ listener: WireListener) -> RedisSettings {
        RedisSettings(address: .host("127.0.0.1", port: listener.port))
    }

    @Test(arguments: [
        ("HTTP/1.1 400 Bad Request\r\n\r\n", "invalid reply"), ("$999999999\r\n", "larger than allowed"),
        ("*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n", "larger than allowed"),
        ("+OK\r\n+OK\r\n", "a reply without a command"),
    ])
    func `garbage ends the connection with words`(bytes: String, words: String) throws {
        let listener = try WireListener()
        Self.serve(listener) { _ in bytes }
        let test = try TestClient(Self.settings(listener))
        _ = try? test.result([RedisCommand("GET", "a")], .request)
        try test.waitForReport(words)
        // The server is as before for other commands, so the client comes back.
        try waitUntil("the client is back") { test.isWhole }
    }

    @Test func `an inspection goes on to another address of the server's name`() throws {
        let listener = try WireListener()
        Thread.detachNewThread {
            // As a replica does, or an address at which nobody listens.
            for _ in 0..<2 { _ = try? listener.accept() }
            Self.serve(listener) { _ in "+OK\r\n" }
        }
        let session = RedisSession(Self.settings(listener))
        defer { session.client.stop() }
        #expect(session.connect(milliseconds: 60_000, othersMilliseconds: 60_000))
        #expect(session.lastWarning == nil, "it is over")
    }

    /// Takes note of nothing.
    private final class Owner: RedisLaneOwner {
        func laneChanged(_ lane: RedisLane) {}
        func laneFailed(_ lane: RedisLane, _ cause: String) {}
    }

    @Test func `a connection without commands is kept in use`() throws {
        let listener = try WireListener()
        let pings = Guarded(0)
        Thread.detachNewThread {
            guard let socket = try? listener.accept() else { return }
            while let words = socket.receiveCommand() {
                if words.first == "PING" { pings.withLock { $0 += 1 } }
                socket.send(words.first == "HELLO" ? Self.hello : "+PONG\r\n")
            }
        }
        let client = RedisClient(settings: Self.settings(listener)) { _ in }
        let loop = EventLoop(label: "lane")
        let terms = RedisLane.Terms(
            urgency: .background, probeTimeout: 60_000, silenceMax: 60_000, idleMax: 10)
        loop.execute { core in RedisLane(terms, client: client, owner: Owner(), core: core).start() }
        try waitUntil("more pings than probes") { pings.withLock { $0 } > 20 }
        client.stop()
        loop.stop()
        loop.join()
        #expect(client.counts.connections == 1)
    }

    @Test(arguments: [(">1\r\n", 1), (">0\r\n", 0), ("|0\r\n", 0), (">1\r\n", 20_000)])
    func `pushes without end cost a bounded part of each connection, and fewer and fewer of these`(
        head: String, count: Int
    ) throws {
        let text = String(repeating: "a", count: count)
        let push = head + (count == 0 ? "" : "$\(count)\r\n\(text)\r\n")
        let listener = try WireListener()
        let floods = Guarded(0)
        let piece = String(repeating: push, count: max(1, 60_000 / push.utf8.count))
        Thread.detachNewThread {
            while let socket = try? listener.accept() {
                Thread.detachNewThread {
                    var pings = 0
                    while let words = socket.receiveCommand() {
                        if words.first == "PING" { pings += 1 }
                        socket.send(words.first == "HELLO" ? Self.hello : "+PONG\r\n")
                        guard pings == 3 else { continue }
                        floods.withLock { $0 += 1 }
                        while socket.send(piece) {}
                        return
                    }
                }
            }
        }
        let test = try TestClient(Self.settings(listener), isAwaited: false)
        try test.waitForReport("what the server pushes without a reply")
        try waitUntil("it was tried again") { floods.withLock { $0 } >= 8 }
        // Each connection ends within a read of the bound, and the next one comes later.
        let counts = test.client.counts
        #expect(counts.bytesReceived <= (counts.connections + 1) * (3 << 20))
        // What requests ask for ends, and the client is of use with another server.
        let result = Result { try test.result([RedisCommand("GET", "a")], .request) }
        if case .success(.success) = result { Issue.record("a reply of nobody") }
    }

    @Test func `a reply out of time belongs to its own command and to no other`() throws {
        let listener = try WireListener()
        let late = Gate()
        Self.serve(listener) { words in
            guard words == ["GET", "late"] else { return "$3\r\nnew\r\n" }
            late.wait()
            return "$3\r\nold\r\n"
        }
        let test = try TestClient(Self.settings(listener))
        #expect(
            try test.result([RedisCommand("GET", "late")], .background, deadline: 1) == .failure(.timedOut))
        late.open()
        #expect(
            try test.result([RedisCommand("GET", "next")], .background, deadline: 60_000)
                == .success([.bytes(Array("new".utf8))]))
    }

    @Test func `replies that all come too late open the breaker like none`() throws {
        let listener = try WireListener()
        let isFirst = Guarded(true)
        Self.serve(listener) { words in
            guard words.first == "GET" else { return "+OK\r\n" }
            // The reply to each GET goes out with the next one, which is then late itself.
            let waits = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            return waits ? nil : "$3\r\nold\r\n"
        }
        let test = try TestClient(Self.settings(listener))
        try waitUntil("the breaker opens: \(test.reports)") {
            _ = try? test.result([RedisCommand("GET", "a")], .request, deadline: 5)
            return test.reports.contains { $0.contains("5 commands in a row have had no reply in time") }
        }
    }

    @Test func `a connection gets no command of a request before its greeting has ended`() throws {
        let listener = try WireListener()
        let (greeted, held) = (Guarded(0), Guarded<[[String]]>([]))
        Thread.detachNewThread {
            while let socket = try? listener.accept() {
                Thread.detachNewThread {
                    let isGreeted = greeted.withLock { count in
                        count += 1
                        return count <= 2
                    }
                    while let words = socket.receiveCommand() {
                        guard isGreeted else {
                            held.withLock { $0.append(words) }
                            continue
                        }
                        socket.send(words.first == "HELLO" ? Self.hello : "+PONG\r\n")
                    }
                }
            }
        }
        // Of four connections two are greeted. So at least one of each two belongs to a loop.
        let loops = (0..<3).map { EventLoop(label: "loop \($0)") }
        let client = RedisClient(settings: Self.settings(listener)) { _ in }
        client.start(requestsOn: loops)
        defer {
            client.stop()
            for loop in loops { loop.stop() }
        }
        try waitUntil("two are greeted, and two wait") {
            client.isAvailable && held.withLock { $0.count } >= 2
        }
        let results = Guarded<[Result<[RESPValue], RedisFailure>]>([])
        for loop in loops {
            loop.execute { core in
                try? client.send([RedisCommand("PING", "a")], .request, deadline: 60_000, on: core) {
                    result in
                    results.withLock { $0.append(result) }
                }
            }
        }
        try waitUntil("all have ended") { results.withLock { $0.count } == 3 }
        let failures = results.withLock { $0.filter { $0 != .success([.status(Array("PONG".utf8))]) } }
        #expect(
            1...2 ~= failures.count && failures.allSatisfy { $0 == .failure(.unavailable) }, "\(failures)")
        #expect(held.withLock { $0.allSatisfy { $0.first == "HELLO" } })
    }

    @Test func `too many waiting commands are refused at once`() throws {
        let listener = try WireListener()
        Self.serve(listener) { _ in nil }
        let test = try TestClient(Self.settings(listener))
        let ended = Guarded(0)
        let send = {
            try test.client.send([RedisCommand("GET", "a")], .background, deadline: 60_000) { _ in
                ended.withLock { $0 += 1 }
            }
        }
        for _ in 0..<4_096 { try send() }
        #expect(throws: RedisFailure.busy) { try send() }
        // The silence of the server ends them all.
        try waitUntil("all have ended") { ended.withLock { $0 } == 4_096 }
        try test.waitForReport("no reply for 5000 ms")
    }

    @Test func `too many waiting bytes are refused at once`() throws {
        let listener = try WireListener()
        Self.serve(listener) { _ in nil }
        let test = try TestClient(Self.settings(listener))
        let value = [UInt8](repeating: 1, count: 1 << 20)
        #expect(throws: RedisFailure.busy) {
            for _ in 0..<80 {
                try test.client.send([.set([1], to: value, seconds: 1)], .background) { _ in }
            }
        }
    }

    @Test(arguments: [RedisUrgency.request, .background])
    func `commands that were answered leave their bytes and places to others`(urgency: RedisUrgency) throws {
        let listener = try WireListener()
        Self.serve(listener) { _ in "+OK\r\n" }
        let test = try TestClient(Self.settings(listener))
        let (size, bytesMax) = urgency == .request ? (1 << 20, 4 << 20) : (16 << 20, 64 << 20)
        let value = [UInt8](repeating: 1, count: size)
        // Three times as much as may wait.
        for _ in 0..<3 * bytesMax / size {
            _ = try test.result([.set([1], to: value, seconds: 1)], urgency, deadline: 60_000).get()
        }
        for _ in 0..<4_200 / 100 {
            let pings = Array(repeating: RedisCommand("PING"), count: 100)
            _ = try test.result(pings, urgency, deadline: 60_000).get()
        }
        // The time of each reply that a request waited for counts.
        let timed = test.client.counts.latency.counts.reduce(0, +)
        #expect(urgency == .background || timed >= 3 * bytesMax / size + 4_200 / 100)
    }

    @Test func `a server of a cluster is refused when it says MOVED`() throws {
        let listener = try WireListener()
        Self.serve(listener) { _ in "-MOVED 3999 127.0.0.1:6381\r\n" }
        let test = try TestClient(Self.settings(listener))
        _ = try? test.result([RedisCommand("GET", "a")], .request)
        try test.waitForReport("belongs to a cluster (MOVED)")
        #expect(test.client.counts.errors["MOVED"] ?? 0 > 0)
    }

    @Test func `a server without a place for more connections says so, and is tried again`() throws {
        let listener = try WireListener()
        let isFull = Guarded(true)
        Thread.detachNewThread {
            while let socket = try? listener.accept() {
                Thread.detachNewThread {
                    while let words = socket.receiveCommand() {
                        if isFull.withLock({ $0 }) {
                            socket.send("-ERR max number of clients reached\r\n")
                        } else {
                            socket.send(words.first == "HELLO" ? Self.hello : "+PONG\r\n")
                        }
                    }
                }
            }
        }
        let test = try TestClient(Self.settings(listener), isAwaited: false)
        try test.waitForReport("maxclients")
        #expect(!test.client.isAvailable)
        isFull.withLock { $0 = false }
        try waitUntil("the client is there") { test.isWhole }
    }

    @Test func `a server that answers probes with a fault is not used, and is tried again`() throws {
        let listener = try WireListener()
        let isLoading = Guarded(true)
        Thread.detachNewThread {
            while let socket = try? listener.accept() {
                Thread.detachNewThread {
                    while let words = socket.receiveCommand() {
                        let pong =
                            isLoading.withLock { $0 } ? "-LOADING the dataset into memory\r\n" : "+PONG\r\n"
                        socket.send(words.first == "HELLO" ? Self.hello : pong)
                    }
                }
            }
        }
        let test = try TestClient(Self.settings(listener), isAwaited: false)
        try test.waitForReport("it is loading its data")
        #expect(!test.client.isAvailable)
        isLoading.withLock { $0 = false }
        try waitUntil("the client is there") { test.isWhole }
    }

    @Test func `a server that answers probes later than a request waits is not used for requests`() throws {
        let listener = try WireListener()
        Thread.detachNewThread {
            while let socket = try? listener.accept() {
                Thread.detachNewThread {
                    while let words = socket.receiveCommand() {
                        if words.first == "HELLO" { socket.send(Self.hello) }
                    }
                }
            }
        }
        var settings = Self.settings(listener)
        settings.timeout = 1
        let test = try TestClient(settings, isAwaited: false)
        try test.waitForReport("PING takes longer than 1 ms")
    }

    @Test func `a server without HELLO is spoken to in RESP2`() throws {
        let listener = try WireListener()
        Thread.detachNewThread {
            while let socket = try? listener.accept() {
                Thread.detachNewThread {
                    while let words = socket.receiveCommand() {
                        switch words {
                        case ["AUTH", "me", "pw"]: socket.send("+OK\r\n")
                        case ["SELECT", "2"]: socket.send("+OK\r\n")
                        case ["PING"]: socket.send("+PONG\r\n")
                        default: socket.send("-ERR unknown command '\(words[0])'\r\n")
                        }
                    }
                }
            }
        }
        var settings = Self.settings(listener)
        (settings.user, settings.password, settings.database) = ("me", "pw", 2)
        #expect(throws: Never.self) { try TestClient(settings) }
    }

    @Test func `a server that accepts and says nothing is given up in time`() throws {
        let listener = try WireListener()
        let test = try TestClient(Self.settings(listener), isAwaited: false)
        try test.waitForReport("no reply")
        #expect(!test.client.isAvailable)
    }

    @Test func `nobody at the address, and a name without an address, are told`() throws {
        let port = try freePort()
        try TestClient(RedisSettings(address: .host("127.0.0.1", port: port)), isAwaited: false)
            .waitForReport("Connection refused")
        try TestClient(RedisSettings(address: .unix(path: "/nowhere/redis")), isAwaited: false)
            .waitForReport("No such file")
        // No name server is asked for a label of more than 63 letters.
        let name = "\(String(repeating: "n", count: 64)).invalid"
        try TestClient(RedisSettings(address: .host(name, port: 6379)), isAwaited: false)
            .waitForReport("no address")
    }

    @Test func `a unix socket without room is tried again and again, as long as a connection may take`()
        throws
    {
        let folder = try TemporaryFolder()
        // There is room for one connection, which another client takes: it has no reply, another cause than a full listener.
        let listener = try WireListener(path: folder.file("s"), backlog: 0)
        let settings = RedisSettings(address: .unix(path: folder.file("s")))
        let other = try TestClient(settings, isAwaited: false)
        try waitUntil("there is no room") { other.client.counts.connections > 0 }
        let test = try TestClient(settings, isAwaited: false)
        try test.waitForReport("no connection within")
        Self.serve(listener) { _ in "+OK\r\n" }
        try waitUntil("all connections are there: \(test.reports)") { test.isWhole }
    }

    @Test func `the end of a client ends its commands`() throws {
        let listener = try WireListener()
        Self.serve(listener) { _ in nil }
        let test = try TestClient(Self.settings(listener))
        let ended = Guarded<Result<[RESPValue], RedisFailure>?>(nil)
        try test.client.send([RedisCommand("GET", "a")], .background, deadline: 60_000) { result in
            ended.withLock { $0 = result }
        }
        test.client.stop()
        #expect(ended.withLock { $0 } == .failure(.lost))
        #expect(throws: RedisFailure.unavailable) { try test.ask(RedisCommand("PING")) }
    }
}
