internal import TestSupport
internal import Testing

@testable import Proxy

private let first = Feed.bytes(version: 0, items: 40)
private let second = Feed.bytes(version: 1, items: 40)

@Suite(.timeLimit(.minutes(40))) struct SwitchTests {
    @Test func `switched off there is no use, no offer and no admission, on any loop`() throws {
        let proxy = try TestProxy(json(second, #"ETag: "v1""#), "explain: true")
        _ = try proxy.fetch("/feed")
        #expect(try proxy.turn("off") == 200)
        // Many connections, so that both loops get some.
        for _ in 0..<16 {
            let answer = try proxy.fetch("/feed", over: second, accept: "dcz, dcb, gzip")
            #expect(answer.coding == "gzip")
            #expect(answer["Use-As-Dictionary"] == nil)
            #expect(answer["Dictum-Explain"]?.contains("reason=switched-off") == true)
            #expect(answer.members("Vary") == ["accept-encoding", "available-dictionary"])
        }
        #expect(try proxy.fetch("/feed", #"If-None-Match: "v1""#)["Use-As-Dictionary"] == nil)
        #expect(try proxy.fetch("/other")["Use-As-Dictionary"] == nil)
        let metrics = try proxy.metrics()
        #expect(metrics.contains("dictum_dictionaries_on 0"))
        #expect(metrics.contains(#"coding="gzip",reason="switched-off"} 16"#))
        #expect(metrics.contains("dictum_store_versions 1"), "the store keeps what it has, and gets no more")
        #expect(try proxy.admin("GET /readyz HTTP/1.1", "Host: x").status == 200)
    }

    @Test func `switched on again all is as before`() throws {
        let proxy = try TestProxy(json(first))
        _ = try proxy.fetch("/feed")
        #expect(try proxy.turn("off") == 200)
        #expect(try proxy.turn("off") == 200)
        #expect(try proxy.turn("on") == 200)
        let answer = try proxy.fetch("/feed", over: first)
        #expect(answer.coding == "dcz")
        #expect(answer["Use-As-Dictionary"] != nil)
        #expect(try proxy.metrics().contains("dictum_dictionaries_on 1"))
    }

    @Test func `no stored answer is asked about while it is off`() throws {
        let proxy = try TestProxy(
            Origin(json(first, #"ETag: "v1""#)),
            #"routes: [{match: "/*", dictionary: {revalidate: true}}]"#)
        _ = try proxy.fetch("/feed")
        _ = try proxy.turn("off")
        _ = try proxy.fetch("/feed")
        #expect(proxy.origin.requests.allSatisfy { $0["If-None-Match"] == nil })
    }

    @Test func `a request that waits for its upstream heeds the switch, an answer under way goes on`() throws
    {
        let (asked, head, rest) = (Gate(), Gate(), Gate())
        let origin = try Origin { request, connection in
            let lines = wire(
                "HTTP/1.1 200 OK", "Content-Type: application/json", "Transfer-Encoding: chunked")
            switch request.target {
            case "/feed?slow":
                connection.send(lines + chunk(Array(second.prefix(5_000))))
                rest.wait()
                connection.send(chunk(Array(second.dropFirst(5_000))) + chunk([]))
            case "/feed?late":
                asked.open()
                head.wait()
                connection.send(json(second))
            default: connection.send(json(first))
            }
        }
        let proxy = try TestProxy(origin)
        _ = try proxy.fetch("/feed")
        let fields = ["Accept-Encoding: dcb", available(first)]
        let (slow, late) = (try proxy.connect(), try proxy.connect())
        slow.send(request("/feed?slow", fields))
        var underWay = try slow.receiveHead()
        late.send(request("/feed?late", fields))
        asked.wait()
        #expect(try proxy.turn("off") == 200)
        head.open()
        rest.open()
        #expect(underWay["Content-Encoding"] == "dcb")
        while let piece = slow.receivePiece(of: underWay) {
            underWay.body += piece
            underWay.isWhole = piece.isEmpty
            if piece.isEmpty { break }
        }
        #expect(try underWay.carriesDecoded(second, over: first))
        #expect(try late.receive().carries(second))
    }

    @Test func `switched off there is no Link, and the URL of one leads nowhere`() throws {
        let proxy = try TestProxy(
            Origin(json(first, "Cache-Control: public, max-age=0")),
            #"routes: [{match: "/*", dictionary: {delivery: link}}]"#)
        try proxy.prove("/feed")
        let link = try #require(try proxy.fetch("/feed")["Link"])
        let path = try #require(link.firstMatch(of: /<([^>]+)>/)?.output.1)
        #expect(try proxy.fetch(String(path)).carries(first))
        _ = try proxy.turn("off")
        #expect(try proxy.fetch("/feed")["Link"] == nil)
        let gone = try proxy.fetch(String(path))
        #expect(gone.status == 404)
        #expect(gone["Cache-Control"] == "no-store")
        _ = try proxy.turn("on")
        #expect(try proxy.fetch(String(path)).carries(first))
    }

    @Test func `what the configuration has off cannot be switched on`() throws {
        let proxy = try TestProxy(json(first), "dictionaries: off")
        #expect(try proxy.turn("on") == 409)
        #expect(try proxy.turn("off") == 200)
        #expect(
            try proxy.admin("GET /dictionaries HTTP/1.1", "Host: localhost").text
                == #"{"configured":"off","dictionaries":"off"}"# + "\n")
        #expect(try proxy.read("/routes").list("routes")[0].text("dictionaries") == "off")
        #expect(try proxy.report().routes[0].mode == "off")
        let warnings = try proxy.read("/status").list("warnings").compactMap { $0.text("text") }
        #expect(warnings.contains("dictionaries are off in the configuration"))
    }

    @Test func `a reload goes by the configuration again`() throws {
        let proxy = try TestProxy(json(first))
        _ = try proxy.turn("off")
        try proxy.reload("")
        #expect(try proxy.fetch("/feed")["Use-As-Dictionary"] != nil)
        #expect(try proxy.admin("GET /dictionaries HTTP/1.1", "Host: localhost").text.contains(#"es":"on""#))
    }
}
