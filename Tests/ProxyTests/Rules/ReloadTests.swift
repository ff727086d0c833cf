internal import Dictionaries
internal import Foundation
internal import HTTP
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let old = Feed.bytes(version: 0, items: 40)
private let new = Feed.bytes(version: 1, items: 40)

@Suite(.timeLimit(.minutes(40))) struct ReloadTests {
    // MARK: Refused reloads

    @Test func `another store needs a restart, and nothing else is changed either`() throws {
        let proxy = try TestProxy(json(old))
        var other = try TestProxy.configuration(proxy.origin, "dictionaries: off")
        other.store.path = "/elsewhere.sqlite"
        #expect(throws: StartError.needsRestart(["store.path"])) { try proxy.server.reload(other) }
        #expect(try proxy.fetch("/feed")["Use-As-Dictionary"] != nil)
        #expect(try proxy.metrics().contains(#"dictum_reloads_total{result="refused"} 1"#))
        #expect(try proxy.metric("dictum_configuration_refused") == 1)
        #expect(try proxy.metric(#"dictum_reloads_total{result="done"}"#) == 0)
        func shown() throws -> Bool {
            try proxy.admin("GET /status HTTP/1.1", "Host: localhost").text.contains(
                "needs a restart; keeping")
        }
        #expect(try shown())
        try proxy.reload("dictionaries: off")
        #expect(try !shown(), "a good reload ends the warning")
        #expect(try proxy.metric("dictum_configuration_refused") == 0)
        #expect(try proxy.metric(#"dictum_reloads_total{result="refused"}"#) == 1)
        #expect(try proxy.metric(#"dictum_reloads_total{result="done"}"#) == 1)
    }

    @Test func `an address that is taken refuses the reload, and the listeners stay`() throws {
        let proxy = try TestProxy(json(old))
        let taken = proxy.origin.port
        let error = try #require(throws: StartError.self) {
            try proxy.reload(
                #"listeners: [{address: "127.0.0.1:0"}, {address: "127.0.0.1:\#(taken)"}]"#)
        }
        #expect(error.description.contains("127.0.0.1:\(taken)"))
        #expect(try proxy.fetch("/feed").carries(old))
        #expect(proxy.server.endpoints.count == 1)
    }

    @Test func `an upstream without an address refuses the reload`() throws {
        let proxy = try TestProxy(json(old))
        var other = try TestProxy.configuration(proxy.origin)
        other.upstream.urls = [try UpstreamURL("http://nobody.invalid:1")]
        #expect(throws: StartError.unknownUpstream("nobody.invalid")) { try proxy.server.reload(other) }
        #expect(try proxy.fetch("/feed").carries(old))
    }

    @Test func `limits of the store wait for the next start, and it says so`() throws {
        let proxy = try TestProxy(json(old))
        #expect(
            try proxy.reload("store: {max_chains: 7}\nmemory: 70MiB") == ["store.max_chains", "memory.total"])
        #expect(
            try proxy.reload("store: {max_chains: 7}\nmemory: 70MiB") == ["store.max_chains", "memory.total"])
        let status = try proxy.admin("GET /status HTTP/1.1", "Host: localhost").text
        #expect(status.contains("store.max_chains, memory.total takes effect at the next start"))
        #expect(!status.contains("\"max_chains\":7,"), "the store has the limit of the start")
        let others = "memory: {total: 70MiB, prepared: 1%, deltas: 2%}\ncompression: {verify: always}"
        #expect(
            try proxy.reload("store: {max_chains: 7}\n" + others) == [
                "store.max_chains", "memory.total", "memory.deltas", "memory.prepared", "compression.verify",
            ])
        #expect(try proxy.reload("") == [], "back to what is in effect")
        #expect(try !proxy.admin("GET /status HTTP/1.1", "Host: localhost").text.contains("next start"))
    }

    @Test func `the first route with dictionaries waits for the next start, as the key does, and it says so`()
        throws
    {
        let off = "explain: true\nroutes: [{match: /*, dictionary: off}]"
        let proxy = try TestProxy(json(old), off)
        let settings =
            "explain: true\nroutes: [{match: /*, dictionary: {scope: private, identity: authorization}}]"
        #expect(
            try proxy.reload(settings) == [
                "dictionary (the first route that needs store.key_file has none until then)"
            ])
        let answer = try proxy.fetch("/feed", "Authorization: Bearer a")
        #expect(answer["Use-As-Dictionary"] == nil)
        #expect(answer["Dictum-Explain"]?.contains("identity-incomplete") == true)
        let started = try TestProxy(json(old), settings)
        #expect(try started.reload(off) == [])
        #expect(try started.reload(settings) == [])
        #expect(try started.fetch("/feed", "Authorization: Bearer a")["Use-As-Dictionary"] != nil)
    }

    // MARK: No lost requests

    @Test func `under load every request of every reload is answered whole`() throws {
        let origin = try Origin { request, connection in
            connection.send(json(request.target.hasPrefix("/a") ? old : new))
        }
        let proxy = try TestProxy(origin)
        let failures = Guarded<[String]>([])
        let isOver = Guarded(false)
        let counts = Guarded(0)
        let clients = try (0..<4).map { _ in try proxy.connect() }
        let done = DispatchGroup()
        for (number, client) in clients.enumerated() {
            done.enter()
            Thread.detachNewThread {
                while !isOver.withLock({ $0 }) {
                    let path = ["/a/feed", "/b/feed"][
                        counts.withLock {
                            $0 += 1; return $0
                        } % 2]
                    client.send(
                        request(path, ["Accept-Encoding: dcz", available(path == "/a/feed" ? old : new)]))
                    let answer = try? client.receive()
                    let expected = path == "/a/feed" ? old : new
                    if (try? answer?.carriesDecoded(expected, over: expected)) != true {
                        failures.withLock {
                            $0.append("client \(number): \(path): \(String(describing: answer))")
                        }
                        break
                    }
                }
                done.leave()
            }
        }
        let settings = [
            #"routes: [{match: "/a/*"}, {match: "/*", dictionary: off}]"#,
            #"routes: [{match: "/b/*", dictionary: {max_age: 1h}}]"#, "dictionaries: off", "",
        ]
        for turn in 0..<24 {
            let before = counts.withLock { $0 }
            try proxy.reload(settings[turn % settings.count], upstream: "idle_timeout: \(turn + 10)s")
            try waitUntil("twenty more requests are answered, or one fails") {
                counts.withLock { $0 } >= before + 20 || !failures.withLock { $0.isEmpty }
            }
        }
        isOver.withLock { $0 = true }
        done.wait()
        #expect(failures.withLock { $0 } == [])
        #expect(try proxy.metrics().contains(#"dictum_reloads_total{result="done"} 24"#))
        #expect(try proxy.metrics().contains("dictum_aborted_responses_total 0"))
    }

    @Test func `a request under way ends with its own upstream and settings, the next has the new ones`()
        throws
    {
        let (asked, gate) = (Gate(), Gate())
        let first = try Origin { _, connection in
            asked.open()
            gate.wait()
            connection.send(json(old))
        }
        let second = try Origin(json(new))
        defer { second.stop() }
        let proxy = try TestProxy(first)
        let client = try proxy.connect()
        client.send(request("/feed", []))
        asked.wait()
        try proxy.reload("dictionaries: off", before: second)
        #expect(try proxy.fetch("/feed").carries(new))
        gate.open()
        let answer = try client.receive()
        #expect(answer.carries(old))
        #expect(answer["Use-As-Dictionary"] != nil)
        client.send(request("/feed", []))
        #expect(try client.receive().carries(new), "on the same connection")
        #expect(first.requests.count == 1)
    }

    @Test func `connections that were kept to the former upstream are closed`() throws {
        let first = try Origin(json(old))
        let second = try Origin(json(new))
        defer { second.stop() }
        let proxy = try TestProxy(first)
        _ = try proxy.fetch("/feed")
        try proxy.reload("", before: second)
        _ = try proxy.fetch("/feed")
        #expect(try proxy.metrics().contains(#"dictum_connections{side="upstream",state="idle"} 1"#))
        #expect(try proxy.metrics().contains(#"dictum_connections_total{side="upstream"} 2"#))
    }

    // MARK: Effects

    @Test func `a route that is gone is used no more, and what it counted stays`() throws {
        let proxy = try TestProxy(json(old), #"routes: [{match: "/feed"}, {match: "/*", dictionary: off}]"#)
        _ = try proxy.fetch("/feed")
        #expect(try proxy.fetch("/feed", over: old).coding == "dcz")
        try proxy.reload(#"routes: [{match: "/*", dictionary: off}]"#)
        let answer = try proxy.fetch("/feed", over: old, accept: "dcz, gzip")
        #expect(answer.coding == "gzip")
        #expect(answer["Use-As-Dictionary"] == nil)
        let metrics = try proxy.metrics()
        #expect(metrics.contains(#"{route="/feed",coding="dcz",reason="delta"} 1"#))
        #expect(metrics.contains(#"{route="/*",coding="gzip",reason="route-off"} 1"#))
        try proxy.reload(#"routes: [{match: "/other"}, {match: "/feed"}]"#)
        _ = try proxy.fetch("/feed", over: old)
        let later = try proxy.metrics()
        #expect(later.contains(#"{route="/feed",coding="dcz",reason="delta"} 1"#))
        #expect(later.contains(#"{route="/feed",coding="dcz",reason="delta-cached"} 1"#))
    }

    @Test
    func `a version that no current route would make is unusable at once, and usable again with its route`()
        throws
    {
        let proxy = try TestProxy(json(old), "explain: true")
        _ = try proxy.fetch("/feed")
        #expect(try proxy.fetch("/feed", over: old).coding == "dcz")
        try proxy.reload("explain: true\nroutes: [{match: \"/*\", dictionary: {match_dest: [script]}}]")
        let answer = try proxy.fetch("/feed", over: old)
        #expect(answer.coding == "identity")
        #expect(answer["Dictum-Explain"]?.contains("dictionary-unknown") == true)
        try proxy.reload("")
        #expect(try proxy.fetch("/feed", over: old).coding == "dcz")
    }

    @Test func `whom a kept connection is trusted for follows the configuration`() throws {
        let proxy = try TestProxy(json(old))
        let client = try proxy.connect()
        for setting in ["", "trusted_proxies: []", "trusted_proxies: [loopback]"] {
            try proxy.reload(setting)
            client.send(request("/feed", ["X-Forwarded-For: 192.0.2.1"]))
            _ = try client.receive()
        }
        #expect(
            proxy.origin.requests.map { $0["X-Forwarded-For"] }
                == ["192.0.2.1, 127.0.0.1", "127.0.0.1", "192.0.2.1, 127.0.0.1"])
    }

    @Test func `limits and codings hold for the next request of a kept connection`() throws {
        let proxy = try TestProxy(json(old))
        let client = try proxy.connect()
        client.send(request("/feed", ["Accept-Encoding: gzip"], method: "POST", body: [1, 2, 3, 4]))
        #expect(try client.receive().coding == "gzip")
        try proxy.reload("limits: {request_body: 3}\ncompression: {codings: [br]}")
        client.send(request("/feed", ["Accept-Encoding: gzip"]))
        #expect(try client.receive().coding == "identity")
        client.send(request("/feed", [], method: "POST", body: [1, 2, 3, 4]))
        #expect(try client.receive().status == 413)
    }

    @Test func `the access log begins and ends with the setting`() throws {
        let proxy = try TestProxy(Origin(json(old)), "log: {access: false}", isLogged: true)
        _ = try proxy.fetch("/one")
        try proxy.reload("log: {access: true}\nroutes: [{match: \"/two\"}]")
        _ = try proxy.fetch("/two")
        try proxy.reload("log: {access: false}")
        _ = try proxy.fetch("/three")
        let lines = proxy.lastLines()
        #expect(lines.count == 1)
        #expect(lines.first?.contains(#""target":"/two""#) == true)
        #expect(lines.first?.contains(#""route":"/two""#) == true)
    }

    @Test func `the query of a private route is hidden, and no other, wherever a reload puts it`() throws {
        let own = #"{match: "/own", dictionary: {scope: private, identity: authorization}}"#
        let other = #"{match: "/other"}"#
        let proxy = try TestProxy(Origin(json(old)), "routes: [\(other), \(own)]", isLogged: true)
        for routes in ["", "routes: [\(own), \(other)]", "routes: [\(own)]"] {
            if !routes.isEmpty { try proxy.reload(routes) }
            for target in ["/own?a=1", "/other?a=1"] { _ = try proxy.fetch(target) }
        }
        let lines = proxy.lastLines()
        #expect(lines.filter { $0.contains(#""target":"/own?-""#) }.count == 3)
        #expect(lines.filter { $0.contains(#""target":"/other?a=1""#) }.count == 3)
    }

    // MARK: Listeners

    @Test func `a new listener accepts, one that is gone refuses, and its requests end whole`() throws {
        let (asked, gate) = (Gate(), Gate())
        let origin = try Origin { _, connection in
            asked.open()
            gate.wait()
            connection.send(json(old))
        }
        let (first, second) = (try freePort(), try freePort())
        let proxy = try TestProxy(origin, #"listeners: [{address: "127.0.0.1:\#(first)"}]"#)
        let client = try WireSocket(port: first)
        client.send(request("/feed", []))
        asked.wait()
        // The request has arrived, but the proxy has not read it yet.
        let late = try WireSocket(port: first)
        late.send(request("/late", []))
        let idle = try WireSocket(port: first)
        try proxy.reload(#"listeners: [{address: "127.0.0.1:\#(second)"}]"#)
        #expect(proxy.server.endpoints.map(\.urlText) == ["http://127.0.0.1:\(second)"])
        #expect(throws: WireError.self) { try WireSocket(port: first) }
        // Either of the two may wake first.
        gate.open()
        gate.open()
        #expect(try client.receive().carries(old))
        #expect(try late.receive().carries(old))
        #expect(idle.receiveAll().isEmpty, "who has asked for nothing is sent away")
        let next = try WireSocket(port: second)
        next.send(request("/feed", []))
        gate.open()
        #expect(try next.receive().carries(old))
        #expect(try proxy.metrics().contains(#"dictum_connections_total{side="client"} 4"#))
    }

    @Test func `a connection of a listener that is gone is counted until its request has ended`() throws {
        let gate = Gate()
        let origin = try Origin { _, connection in
            gate.wait()
            connection.send(json(old))
        }
        let proxy = try TestProxy(origin)
        let client = try proxy.connect()
        client.send(request("/feed", []))
        try waitUntil("the upstream has the request") { !origin.requests.isEmpty }
        try proxy.reload(#"listeners: [{address: "127.0.0.2:0"}]"#)
        let active = #"dictum_connections{side="client",state="active"}"#
        #expect(try proxy.metric(active) == 1)
        gate.open()
        #expect(try client.receive().carries(old))
        try waitUntil("nobody is counted") { try proxy.metric(active) == 0 }
    }

    @Test func `of a listener that a reload has brought, what changes later waits for the next start`() throws
    {
        let proxy = try TestProxy(json(old))
        let (brought, changed) = (
            #"listeners: [{address: "127.0.0.2:0"}]"#, #"listeners: [{address: "127.0.0.2:0", mptcp: on}]"#
        )
        #expect(try proxy.reload(brought).isEmpty)
        #expect(try proxy.reload(changed) == ["listeners.mptcp"])
        #expect(try proxy.reload(brought).isEmpty, "back to what is in effect")
    }

    @Test func `another address on the same port takes over`() throws {
        let port = try freePort()
        let proxy = try TestProxy(Origin(json(old)), #"listeners: [{address: "127.0.0.1:\#(port)"}]"#)
        try proxy.reload(#"listeners: [{address: "0.0.0.0:\#(port)"}]"#)
        let client = try WireSocket(port: port)
        client.send(request("/feed", []))
        #expect(try client.receive().carries(old))
        #expect(proxy.server.endpoints.map(\.text) == ["0.0.0.0:\(port)"])
    }

    @Test func `the admin listener moves, goes and comes back, and its token is the new one`() throws {
        let proxy = try TestProxy(json(old))
        let former = try TestProxy.port(proxy.server.adminEndpoint)
        let port = try freePort()
        try proxy.reload(#"admin: {address: "127.0.0.1:\#(port)", token: "0123456789abcdef"}"#)
        let posted = try proxy.admin(
            "POST /dictionaries/off HTTP/1.1", "Host: x", "Content-Type: application/json",
            "Authorization: Bearer 0123456789abcdef")
        #expect(posted.status == 200)
        #expect(throws: WireError.self) { try WireSocket(port: former) }
        try proxy.reload("admin: off")
        #expect(proxy.server.adminEndpoint == nil)
        try proxy.reload("")
        #expect(try proxy.admin("GET /readyz HTTP/1.1", "Host: x").status == 200)
    }

    @Test(arguments: [true, false])
    func `a process that hands over closes its admin socket at once, one that drains keeps it`(
        isHandedOver: Bool
    ) throws {
        let gate = Gate()
        let proxy = try TestProxy(
            Origin { _, connection in
                gate.wait()
                connection.send(json(old))
            })
        let admin = try TestProxy.port(proxy.server.adminEndpoint)
        let client = try proxy.connect()
        client.send(request("/feed", []))
        try waitUntil("the upstream has the request") { !proxy.origin.requests.isEmpty }
        let stopped = Gate()
        proxy.isStopped = true
        Thread.detachNewThread { [server = proxy.server] in
            server.stop(drainMilliseconds: 60_000, isHandedOver: isHandedOver)
            stopped.open()
        }
        if isHandedOver {
            try waitUntil("the admin socket is closed") { (try? WireSocket(port: admin)) == nil }
        } else {
            try waitUntil("the process says that it drains") {
                try proxy.admin("GET /readyz HTTP/1.1", "Host: x").status == 503
            }
        }
        // The request in progress ends whole in either case.
        gate.open()
        #expect(try client.receive().carries(old))
        #expect(stopped.wait())
        proxy.origin.stop()
    }
}
