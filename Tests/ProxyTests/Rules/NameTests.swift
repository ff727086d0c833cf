internal import Dictionaries
internal import Glibc
internal import HTTP
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

/// A name service whose addresses a test can change.
private final class Names: Sendable {
    private let ports: Guarded<[UInt16]>
    private let askedCount = Guarded(0)

    init(_ ports: [UInt16]) { self.ports = Guarded(ports) }

    /// Changes the addresses of the name, and waits until they have been looked up.
    func become(_ ports: [UInt16]) throws {
        self.ports.withLock { $0 = ports }
        let before = asked
        try waitUntil("the name was asked for twice more") { asked >= before + 2 }
    }

    var asked: Int { askedCount.withLock { $0 } }

    var resolver: NameResolver {
        NameResolver { [ports, askedCount] _, _ in
            askedCount.withLock { $0 += 1 }
            guard let loopback = IPAddress("127.0.0.1") else { return [] }
            return ports.withLock { $0 }.map { .ip(loopback, port: $0) }
        }
    }
}

extension TestProxy {
    /// Starts with an upstream whose name is resolved again at short intervals.
    fileprivate convenience init(_ origin: MoodyOrigin, _ names: Names, upstream: String = "") throws {
        try self.init(
            origin.origin, upstream: upstream, urls: ["http://many.test"], resolver: names.resolver,
            change: { $0.upstream.resolveInterval = 20 })
    }

    fileprivate var ports: [UInt16] {
        server.context.upstreams.servers.compactMap {
            if case .ip(_, let port) = $0.target.endpoint { port } else { nil }
        }
    }
}

@Suite(.timeLimit(.minutes(40))) struct NameTests {
    @Test func `a name without an address is refused at the start, and by a reload`() throws {
        let origin = try MoodyOrigin()
        #expect(throws: StartError.unknownUpstream("many.test")) { try TestProxy(origin, Names([])) }
        let names = Names([origin.origin.port])
        let proxy = try TestProxy(origin, names)
        try names.become([])
        let other = try TestProxy.configuration(origin.origin, urls: ["http://many.test", "http://new.test"])
        #expect(throws: StartError.unknownUpstream("new.test")) { try proxy.server.reload(other) }
        // One that was known keeps its addresses over a reload, too.
        try proxy.server.reload(TestProxy.configuration(origin.origin, urls: ["http://many.test"]))
        #expect(try proxy.fetch("/").text == "well")
    }

    @Test func `a failed resolution keeps the old addresses, and is told once until the name is found again`()
        throws
    {
        let origin = try MoodyOrigin()
        let names = Names([origin.origin.port])
        let proxy = try TestProxy(origin, names)
        try names.become([])
        try names.become([])
        #expect(try proxy.fetch("/").text == "well")
        #expect(proxy.told(of: "many.test").count == 1)
        #expect("\(proxy.told(of: "many.test"))".contains("no address at present"))
        try names.become([origin.origin.port])
        try names.become([])
        #expect(proxy.told(of: "many.test").count == 2)
    }

    @Test func `a name without an address keeps its own former ones, and none of another name`() throws {
        let ports = Guarded<[String: [UInt16]]>(["one.test": [1], "two.test": [2, 3]])
        let directory = UpstreamDirectory(
            "",
            NameResolver { host, _ in
                guard let loopback = IPAddress("127.0.0.1") else { return [] }
                return ports.withLock { $0[host] ?? [] }.map { .ip(loopback, port: $0) }
            })
        let urls = try ["http://one.test", "http://two.test"].map { try UpstreamURL($0) }
        directory.adopt(urls, try directory.servers(of: urls))
        ports.withLock { $0 = ["two.test": [2]] }
        let refreshed = try #require(directory.refresh())
        #expect(refreshed.failed == ["one.test"] && refreshed.added.isEmpty)
        #expect(refreshed.removed.map(\.target.endpoint.text) == ["127.0.0.1:3"])
        #expect(directory.servers.map(\.target.endpoint.text) == ["127.0.0.1:1", "127.0.0.1:2"])
    }

    @Test func `an address that several names or answers have counts once for each name`() throws {
        let loopback = try #require(IPAddress("127.0.0.1"))
        let directory = UpstreamDirectory(
            "",
            NameResolver { _, _ in [.ip(loopback, port: 1), .ip(loopback, port: 2), .ip(loopback, port: 1)] })
        let urls = try ["http://one.test", "http://two.test"].map { try UpstreamURL($0) }
        let servers = try directory.servers(of: urls)
        #expect(
            servers.map(\.target.authority) == ["one.test:80", "one.test:80", "two.test:80", "two.test:80"])
        #expect(servers.map(\.target.endpoint.text).first == "127.0.0.1:1")
    }

    @Test func `a round whose names a reload replaces meanwhile changes nothing`() throws {
        let reload = Guarded<(@Sendable () -> Void)?>(nil)
        let loopback = try #require(IPAddress("127.0.0.1"))
        let directory = UpstreamDirectory(
            "",
            NameResolver { _, port in
                reload.withLock { exchange(&$0, with: nil) }?()
                return [.ip(loopback, port: port)]
            })
        let (former, next) = ([try UpstreamURL("http://one.test:1")], [try UpstreamURL("http://two.test:2")])
        directory.adopt(former, try directory.servers(of: former))
        let servers = try directory.servers(of: next)
        reload.withLock { $0 = { directory.adopt(next, servers) } }
        let refreshed = directory.refresh()
        #expect(refreshed == nil)
        #expect(directory.servers.map(\.target.endpoint.text) == ["127.0.0.1:2"])
    }

    @Test func `a name with several addresses spreads over them`() throws {
        let all = try (0..<3).map { _ in try MoodyOrigin() }
        let proxy = try TestProxy(all[0], Names(all.map(\.origin.port)))
        let client = try proxy.connect()
        for _ in 0..<6 {
            client.send(request("/", [], host: "public.test"))
            #expect(try client.receive().text == "well")
        }
        #expect(all.map(\.count) == [2, 2, 2])
        #expect(all.allSatisfy { $0.origin.requests.allSatisfy { $0["Host"] == "public.test" } })
    }

    @Test func `an address that has come gets requests, one that has gone ends in good order`() throws {
        let gate = Gate()
        let begun = Gate()
        let ended = Gate()
        let old = try Origin { request, connection in
            if request.target == "/slow" {
                begun.open()
                gate.wait(seconds: 50)
                connection.send(wire("HTTP/1.1 200 OK", body: [UInt8]("slow".utf8)))
                // The connection is kept no longer.
                _ = connection.receiveAll()
                ended.open()
            } else {
                connection.send(wire("HTTP/1.1 200 OK", body: [UInt8]("old".utf8)))
            }
        }
        let new = try MoodyOrigin()
        let names = Names([old.port])
        let proxy = try TestProxy(
            old, urls: ["http://many.test"], resolver: names.resolver,
            change: { $0.upstream.resolveInterval = 20 })
        let slow = try proxy.connect()
        slow.send(request("/slow", []))
        begun.wait()
        #expect(try proxy.fetch("/").text == "old")
        let idle = #"dictum_connections{side="upstream",state="idle"}"#
        #expect(try proxy.metric(idle) == 1)
        try names.become([new.origin.port])
        try waitUntil("no connection is idle") { try proxy.metric(idle) == 0 }
        #expect(try proxy.fetch("/").text == "well")
        gate.open()
        #expect(try slow.receive().text == "slow")
        #expect(ended.wait())
        #expect(proxy.ports == [new.origin.port])
        let told = proxy.told(of: "many.test").map { "\($0)" }
        #expect(told.count == 2)
        #expect(told.contains { $0.contains("127.0.0.1:\(new.origin.port)") && $0.contains("has come") })
        #expect(told.contains { $0.contains("127.0.0.1:\(old.port)") && $0.contains("has gone") })
    }

    @Test func `what is known of an address outlasts rounds that find it again, in any order`() throws {
        let (sick, well) = (try MoodyOrigin(.closing), try MoodyOrigin())
        let names = Names([sick.origin.port, well.origin.port])
        let proxy = try TestProxy(sick, names, upstream: "{max_failures: 1, fail_timeout: 1h}".unbraced)
        try waitUntil("the sick address gets a request") { () throws -> Bool in
            #expect(try proxy.fetch("/").text == "well")
            return sick.count > 0
        }
        try names.become([well.origin.port, sick.origin.port])
        for _ in 0..<8 { #expect(try proxy.fetch("/").text == "well") }
        #expect(sick.count == 1)
    }

    @Test func `a name that a reload brings is resolved at intervals, too`() throws {
        let (old, new) = (try MoodyOrigin(), try MoodyOrigin())
        let names = Names([old.origin.port])
        let proxy = try TestProxy(old.origin, resolver: names.resolver)
        var configuration = try TestProxy.configuration(old.origin, urls: ["http://many.test"])
        configuration.upstream.resolveInterval = 20
        try proxy.server.reload(configuration)
        #expect(try proxy.fetch("/").text == "well")
        try names.become([new.origin.port])
        try waitUntil("the new address is known") { proxy.ports == [new.origin.port] }
        #expect(try proxy.fetch("/").text == "well")
        #expect(new.count == 1)
    }

    @Test func `a reload changes the interval of a name`() throws {
        let origin = try MoodyOrigin()
        let names = Names([origin.origin.port])
        let proxy = try TestProxy(
            origin.origin, urls: ["http://many.test"], resolver: names.resolver,
            change: { $0.upstream.resolveInterval = 3_600_000 })
        var configuration = try TestProxy.configuration(origin.origin, urls: ["http://many.test"])
        configuration.upstream.resolveInterval = 20
        try proxy.server.reload(configuration)
        try names.become([origin.origin.port])
    }

    @Test func `addresses are not asked for again`() throws {
        let origin = try MoodyOrigin()
        let names = Names([origin.origin.port])
        let proxy = try TestProxy(
            origin.origin, resolver: names.resolver, change: { $0.upstream.resolveInterval = 1 })
        for _ in 0..<50 { #expect(try proxy.fetch("/").text == "well") }
        #expect(names.asked == 1)
    }
}
