internal import Dispatch
internal import Primitives
internal import TestSupport
internal import Testing

@testable import HTTP
@testable import Proxy

/// A handler without a task, which only takes a place on its loop.
private final class IdleHandler: Handler {}

/// What is left of a request once it has ended.
@Suite(.timeLimit(.minutes(40))) struct ExchangeEndTests {
    /// Returns the highest place of a handler on the only loop, after 64 more have taken those that are free.
    private func highestPlace(on proxy: TestProxy) -> UInt32 {
        let highest = Guarded<UInt32>(0)
        let asked = DispatchGroup()
        for part in proxy.server.parts {
            part.perform(in: asked) { _, core in
                let tokens = (0..<64).map { _ in core.add(IdleHandler()) }
                highest.withLock { $0 = tokens.map(\.index).max() ?? 0 }
                for token in tokens { core.remove(token) }
            }
        }
        asked.wait()
        return highest.withLock { $0 }
    }

    @Test func `a loop forgets each request that has had a deadline`() throws {
        let rest = Gate()
        let body = Feed.bytes(version: 0, items: 40)
        let origin = try Origin { _, connection in
            connection.send(json(chunk(Array(body.prefix(1_000))), "Transfer-Encoding: chunked"))
            rest.wait()
            connection.send(chunk(Array(body.dropFirst(1_000))) + chunk([]))
        }
        let proxy = try TestProxy(origin, loops: 1)
        let client = try proxy.connect()
        // The first part goes out by a deadline.
        func fetch() throws {
            client.send(request("/feed", []))
            var answer = try client.receiveHead()
            rest.open()
            client.receiveBody(&answer)
            #expect(answer.carries(body))
        }
        try fetch()
        let before = highestPlace(on: proxy)
        for _ in 0..<20 { try fetch() }
        try waitUntil("no request has a place any more") { highestPlace(on: proxy) <= before }
    }
}
