internal import Dispatch
internal import HTTP
internal import Primitives
internal import TestSupport
internal import Testing

@testable import Proxy
@testable import Storage

private let body = Feed.bytes(version: 0, items: 4)

/// Event loops that are really blocked: their thread waits at a gate.
@Suite(.timeLimit(.minutes(40))) struct StuckLoopTests {
    /// Blocks a loop until the gate opens; returns once it is blocked.
    private func block(_ loop: Int, of proxy: TestProxy, until gate: Gate) {
        let isBlocked = Gate()
        proxy.server.parts[loop].loop.execute { _ in
            isBlocked.open()
            gate.wait(seconds: 120)
        }
        isBlocked.wait()
    }

    /// The same while the loop holds a lock of the store.
    private func blockInStore(_ loop: Int, of proxy: TestProxy, until gate: Gate) {
        let isBlocked = Gate()
        let store = proxy.server.context.store
        proxy.server.parts[loop].loop.execute { _ in
            store.memory.state.withLock { _ in
                isBlocked.open()
                gate.wait(seconds: 240)
            }
        }
        isBlocked.wait()
    }

    private func health(_ proxy: TestProxy) throws -> (status: Int, text: String) {
        let answer = try proxy.admin("GET /healthz HTTP/1.1", "Host: pod.test")
        return (answer.status, answer.text)
    }

    @Test(arguments: [[0], [1], [0, 1]])
    func `healthz names the loops that give no sign of life, and is well once they do`(loops: [Int]) throws {
        let proxy = try TestProxy(json(body))
        #expect(try health(proxy) == (200, "ok\n"))
        let gates = loops.map { loop in
            let gate = Gate()
            block(loop, of: proxy, until: gate)
            return gate
        }
        defer { for gate in gates { gate.open() } }
        let stuck = loops.map(String.init).joined(separator: ", ")
        for _ in 0..<2 {
            // It responds within its time limit, and serves other requests meanwhile.
            #expect(try health(proxy) == (503, "stuck: loop \(stuck)\n"))
            #expect(try proxy.admin("GET /readyz HTTP/1.1", "Host: pod.test").status == 200)
        }
        for gate in gates { gate.open() }
        #expect(try health(proxy) == (200, "ok\n"))
    }

    @Test
    func `a counter does not fall while a loop does not respond, since that would be taken for a restart`()
        throws
    {
        let proxy = try TestProxy(json(body))
        // Each loop serves some of so many connections.
        for _ in 0..<64 { _ = try proxy.fetch("/feed") }
        func requests() throws -> Int {
            try proxy.metric(#"dictum_responses_total{route="/*",status="2xx"}"#)
        }
        #expect(try requests() == 64)
        for loop in proxy.server.parts.indices {
            let gate = Gate()
            block(loop, of: proxy, until: gate)
            defer { gate.open() }
            #expect(try requests() == 64)
        }
    }

    @Test func `stopping leaves a stuck loop behind, and says so`() throws {
        let proxy = try TestProxy(json(body))
        let gate = Gate()
        block(1, of: proxy, until: gate)
        #expect(!proxy.server.stop(drainMilliseconds: 100))
        gate.open()
        proxy.server.parts[1].loop.join()
        proxy.isStopped = true
    }

    @Test func `a loop that is stuck in the store does not keep the end while users wait to be forgotten`()
        throws
    {
        let proxy = try TestProxy(json(body))
        let server = proxy.server
        let user = try #require(IdentityTag(bytes: [UInt8](repeating: 1, count: 32)))
        let (gate, isStopped) = (Gate(), Gate())
        blockInStore(1, of: proxy, until: gate)
        // Not by `forget`, which would remove them before the end.
        server.context.shared.leavingUsers.withLock { _ = $0.add([user]) }
        let isWhole = Guarded<Bool?>(nil)
        DispatchQueue(label: "the end of a proxy").async {
            let result = server.stop(drainMilliseconds: 100)
            isWhole.withLock { $0 = result }
            isStopped.open()
        }
        let hasEnded = isStopped.wait(seconds: 120)
        gate.open()
        #expect(hasEnded && isWhole.withLock { $0 } == false)
        if !hasEnded { isStopped.wait() }
        server.parts[1].loop.join()
        proxy.isStopped = true
    }
}
