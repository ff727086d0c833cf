internal import Dictionaries
internal import Dispatch
internal import Glibc
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

@Suite(.timeLimit(.minutes(40))) struct BalanceTests {
    @Test func `round robin gives each upstream its turn`() throws {
        let all = try (0..<3).map { _ in try MoodyOrigin() }
        let proxy = try TestProxy(all)
        let client = try proxy.connect()
        for number in 1...9 {
            client.send(request("/", []))
            #expect(try client.receive().text == "well")
            #expect(all.map(\.count).reduce(0, +) == number)
        }
        #expect(all.map(\.count) == [3, 3, 3])
    }

    @Test func `least connections spares the one that is busy, over all loops`() throws {
        let (busy, begun) = (Gate(), Gate())
        let slow = try Origin { request, connection in
            if request.target == "/slow" {
                begun.open()
                busy.wait(seconds: 50)
            }
            connection.send(wire("HTTP/1.1 200 OK", body: [UInt8]("slow".utf8)))
        }
        let quick = try MoodyOrigin()
        let proxy = try TestProxy(
            slow, upstream: "balance: least_connections", urls: ["http://127.0.0.1:\(slow.port)", quick.url])
        let waiting = try proxy.connect()
        waiting.send(request("/slow", []))
        begun.wait()
        // Each request has its own connection, so that both loops get some.
        for _ in 0..<16 { #expect(try proxy.fetch("/").text == "well") }
        #expect(slow.requests.count == 1)
        busy.open()
        #expect(try waiting.receive().text == "slow")
        for _ in 0..<16 { _ = try proxy.fetch("/") }
        #expect(slow.requests.count > 1, "once it is free it gets requests again")
        #expect(proxy.server.context.upstreams.servers.map(\.activeCount) == [0, 0])
    }

    @Test func `each address has ports for 20,000 requests of the whole machine`() throws {
        let proxy = try TestProxy([try MoodyOrigin(), try MoodyOrigin()])
        let ports = Guarded<[Int]>([])
        let asked = DispatchGroup()
        for part in proxy.server.parts {
            part.perform(in: asked) { own, _ in
                let group = own.proxy.context.upstreams.all[0]
                let count = own.proxy.upstreams[group].portsMax
                ports.withLock { $0.append(count) }
            }
        }
        asked.wait()
        #expect(ports.withLock { $0 } == [40_000, 40_000])
    }

    @Test func `a request that is given up is no load any more`() throws {
        let silent = try MoodyOrigin(.silent)
        let proxy = try TestProxy([silent, try MoodyOrigin()], upstream: "balance: least_connections")
        let client = try proxy.connect()
        client.send(request("/", []))
        try waitUntil("the silent upstream was asked") { silent.count > 0 }
        #expect(proxy.server.context.upstreams.servers.map(\.activeCount) == [1, 0])
        client.reset()
        try waitUntil("no request is under way") {
            proxy.server.context.upstreams.servers.map(\.activeCount) == [0, 0]
        }
    }
}
