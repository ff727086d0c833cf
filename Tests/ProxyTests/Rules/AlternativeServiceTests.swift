internal import TestSupport
internal import Testing

@testable import Proxy

private let h3 = #"h3=":443"; ma=86400"#

/// Returns a proxy whose first listener has `alt_svc`, and whose second has none.
private func proxy(_ origin: Origin, _ settings: String = "", _ value: String? = h3) throws -> TestProxy {
    try TestProxy(
        origin, settings, listener: { $0.alternativeServices = value },
        // Another host, since listeners are told apart by their addresses.
        change: { $0.listeners.append(.init(address: .tcp(host: "0.0.0.0", port: 0))) })
}

@Suite(.timeLimit(.minutes(40))) struct AlternativeServiceTests {
    @Test(arguments: [
        #"h3=":0""#, #"h3=":65536""#, "h3=:443", "h3", "h3=443", #"h3=":443"; ma"#, #"h3=":443"; ma=x"#,
        #"h3=":443"; persist=2"#, #"h3=":443"; ma=1; ma=1"#, #"h3=":443","#, #"h 3=":443""#, "CLEAR",
        #"h3="a b:443""#, #"h3="a@b:443""#, #"h3=":443"; x=1"#, #"clear, h3=":443""#, #"h3=":+443""#, "",
    ])
    func `a value that no client could read is a mistake`(value: String) {
        let found = mistakes("listeners: [{address: \"127.0.0.1:1\", alt_svc: '\(value)'}]")
        #expect(found.count == 1)
        #expect(found.first?.contains("expected a value of Alt-Svc") == true, "\(found)")
    }

    @Test(arguments: [
        #"h3=":443""#, h3, #"h3=":443"; ma=0; persist=1, h2="alt.example.com:443""#, "clear",
        #"h3="[2001:db8::1]:443""#, #"http%2F1.1=":80""#,
    ])
    func `a value of Alt-Svc goes out as it is written`(value: String) throws {
        #expect(mistakes("listeners: [{address: \"127.0.0.1:1\", alt_svc: '\(value)'}]").isEmpty)
        let answer = try proxy(Origin(json([0x7b, 0x7d])), "", value).fetch("/")
        #expect(answer.values("Alt-Svc") == [value])
    }

    @Test(arguments: ["clear", #"h3=":8443""#])
    func `the upstream's own field stays, and is the only one`(own: String) throws {
        let answer = try proxy(Origin(json([0x7b, 0x7d], "Alt-Svc: \(own)"))).fetch("/")
        #expect(answer.values("Alt-Svc") == [own])
    }

    @Test func `only the listener that has the setting names other services`() throws {
        let proxy = try proxy(Origin(json([0x7b, 0x7d])))
        let other = try WireSocket(port: TestProxy.port(proxy.server.endpoints.last))
        other.send(request("/", []))
        #expect(try other.receive()["Alt-Svc"] == nil)
        #expect(try proxy.fetch("/")["Alt-Svc"] == h3)
    }

    @Test func `responses without a body and Dictum's own have it too, interim ones do not`() throws {
        let origin = try Origin { request, connection in
            if request.target == "/gone" { return connection.finish() }
            connection.send(
                wire("HTTP/1.1 103 Early Hints")
                    + (request.method == "HEAD"
                        ? wire("HTTP/1.1 200 OK") : wire("HTTP/1.1 304 Not Modified", #"ETag: "v""#)))
        }
        let proxy = try proxy(origin)
        for method in ["HEAD", "GET"] {
            let client = try proxy.connect()
            client.send(request("/", [], method: method))
            let interim = try client.receive(isBodiless: true)
            #expect(interim.status == 103)
            #expect(interim["Alt-Svc"] == nil)
            #expect(try client.receive(isBodiless: true).values("Alt-Svc") == [h3])
        }
        for (target, status) in [("/.dictum/none", 404), ("/gone", 502)] {
            let problem = try proxy.fetch(target, method: "POST", body: [1])
            #expect(problem.status == status)
            #expect(problem.values("Alt-Svc") == [h3])
        }
    }
}
