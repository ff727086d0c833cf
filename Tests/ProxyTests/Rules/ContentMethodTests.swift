internal import Dictionaries
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let first = Feed.bytes(version: 0, items: 40)
private let second = Feed.bytes(version: 1, items: 40)
private let fresh = "Cache-Control: public, max-age=60"
private let next = "X-Version: 1"

/// Responses to QUERY and POST as dictionaries, and the operations of one URL.
@Suite(.timeLimit(.minutes(40))) struct ContentMethodTests {
    /// A proxy whose upstream gives `first`, or `second` to requests with `X-Version: 1`.
    private static func proxy(
        _ dictionary: String = "methods: [GET, QUERY, POST], key: [op]", status: String = "200 OK",
        _ fields: String...
    ) throws -> TestProxy {
        let lines =
            ["HTTP/1.1 \(status)", "Content-Type: application/json"] + (fields.isEmpty ? [fresh] : fields)
        return try TestProxy(
            Origin { request, connection in
                let body = request["X-Version"] == nil ? first : second
                connection.send(wire(lines.joined(separator: "\r\n"), body: body))
            }, "explain: true\nroutes: [{match: /graphql, dictionary: {\(dictionary)}}]")
    }

    private static func post(
        _ proxy: TestProxy, _ text: String = "{}", _ fields: String..., method: String = "POST",
        target: String = "/graphql", over held: [UInt8]? = nil
    ) throws -> WireMessage {
        let fields = (["X-Test: 1"] + fields).joined(separator: "\r\n")
        let body = Array(text.utf8)
        guard let held else { return try proxy.fetch(target, fields, method: method, body: body) }
        return try proxy.fetch(target, over: held, fields, method: method, body: body)
    }

    // MARK: What names an operation

    @Test func `a body is kept up to 64 KiB, and its memory comes back`() throws {
        let proxy = try Self.proxy()
        let memory = proxy.server.context.compressionMemory
        let client = try proxy.connect()
        let blanks = [UInt8](repeating: UInt8(ascii: " "), count: 64 << 10)
        let head = wire(
            "POST /graphql HTTP/1.1", "Host: api.test", "Content-Length: \(2 * blanks.count)")
        client.send(head + blanks)
        try waitUntil("it is kept") { memory.takenBytes >= blanks.count }
        client.send([UInt8(ascii: " ")])
        try waitUntil("it is too long") { memory.takenBytes == 0 }
        client.send(Array(blanks.dropFirst()))
        #expect(try client.receive().status == 200)
        client.send(head + blanks)
        try waitUntil("it is kept") { memory.takenBytes >= blanks.count }
        client.reset()
        try waitUntil("the client's memory is back") { memory.takenBytes == 0 }
    }

    // MARK: What becomes no version

    @Test(arguments: [
        ("POST", "methods: [GET]", "200 OK", fresh, "ineligible-method"),
        ("POST", "covers: path", "200 OK", fresh, "ineligible-method"),
        ("QUERY", "methods: [GET, POST]", "200 OK", fresh, "ineligible-method"),
        ("GET", "methods: [POST]", "200 OK", fresh, "ineligible-method"),
        ("PUT", "methods: [GET, QUERY, POST]", "200 OK", fresh, "ineligible-method"),
        ("POST", "methods: [POST]", "201 Created", fresh, "ineligible-status"),
        ("POST", "methods: [POST]", "200 OK", "Cache-Control: public", "not-fresh"),
        ("POST", "methods: [POST]", "200 OK", "Cache-Control: no-cache, max-age=60", "not-fresh"),
        ("POST", "methods: [POST]", "200 OK", "Cache-Control: s-maxage=60", "not-fresh"),
        ("POST", "methods: [POST]", "200 OK", "Last-Modified: Sat, 01 Nov 2025 10:00:00 GMT", "not-fresh"),
        ("QUERY", "covers: path", "200 OK", "Last-Modified: Sat, 01 Nov 2025 10:00:00 GMT", "not-fresh"),
        ("POST", "methods: [POST]", "200 OK", fresh + "\r\nAge: 61", "not-fresh"),
        ("POST", "methods: [POST]", "200 OK", fresh + "\r\nContent-Location: /orders/7", "content-location"),
        (
            "POST", "methods: [POST]", "200 OK", fresh + "\r\nContent-Location: //api.test/graphql",
            "content-location"
        ),
    ])
    func `a response is no version, and the reason is exact`(
        method: String, dictionary: String, status: String, field: String, reason: String
    ) throws {
        let proxy = try Self.proxy(dictionary, status: status, field)
        let answer = try Self.post(proxy, method: method)
        #expect(answer["Use-As-Dictionary"] == nil)
        let explained = try #require(answer["Dictum-Explain"])
        #expect(
            explained.contains("not-offered=\(reason)") || explained.contains("reason=\(reason)"),
            "\(explained)")
    }

    @Test(arguments: ["no-store, max-age=60", "max-age=60\r\nVary: *"])
    func `what may not be kept is no version after a POST either`(control: String) throws {
        let proxy = try Self.proxy("methods: [POST]", "Cache-Control: \(control)")
        #expect(try Self.post(proxy)["Use-As-Dictionary"] == nil)
    }

    /// RFC 9110 section 8.8: a client would take it for a tag of the target.
    @Test(arguments: ["QUERY", "POST"])
    func `no ETag is made for it, in any coding`(method: String) throws {
        let proxy = try Self.proxy()
        let answer = try Self.post(proxy, method: method)
        #expect(answer["Use-As-Dictionary"] != nil && answer["ETag"] == nil)
        let next = try Self.post(proxy, "{}", next, method: method, over: first)
        #expect(next.coding == "dcz" && next["ETag"] == nil)
    }

    // MARK: What becomes one

    @Test(
        arguments: ["QUERY", "POST"],
        [fresh, "Expires: Fri, 01 Jan 2100 00:00:00 GMT\r\nCache-Control: public"])
    func `a response that is fresh by its fields is offered, and the next one is a delta`(
        method: String, field: String
    ) throws {
        let proxy = try Self.proxy("methods: [GET, QUERY, POST]", field)
        let given = try Self.post(proxy, method: method)
        #expect(given["Use-As-Dictionary"] == #"match="/graphql""#)
        let answer = try Self.post(proxy, "{}", next, method: method, over: first)
        #expect(answer.coding == "dcz")
        #expect(try answer.carriesDecoded(second, over: first))
    }

    @Test(arguments: ["/graphql", "http://api.test/graphql", "https://api.test/graphql"])
    func `a Content-Location of the request's own URL changes nothing`(location: String) throws {
        let proxy = try Self.proxy("methods: [POST]", fresh, "Content-Location: \(location)")
        #expect(try Self.post(proxy)["Use-As-Dictionary"] != nil)
    }

    @Test func `cache_control makes a response to a method of the route fresh`() throws {
        let value = "public, max-age=600"
        let control = "cache_control: \"\(value)\""
        let proxy = try Self.proxy("methods: [POST], \(control)", "X-A: 1")
        let answer = try Self.post(proxy)
        #expect(answer["Cache-Control"] == value && answer["Use-As-Dictionary"] != nil)
        let located = try Self.proxy("methods: [POST], \(control)", "Content-Location: /graphql")
        let other = try Self.post(located)
        #expect(
            other["Cache-Control"] == nil && other["Use-As-Dictionary"] == nil,
            "a later GET could be served with it")
    }

    @Test(arguments: ["QUERY", "POST"])
    func `the upstream sees every request, and no condition is met here`(method: String) throws {
        let proxy = try Self.proxy("methods: [GET, QUERY, POST], revalidate: true", fresh, "ETag: \"v1\"")
        for _ in 0..<3 {
            let answer = try Self.post(proxy, "{}", "If-None-Match: \"v1\"", method: method)
            #expect(try answer.status == 200 && answer.carriesDecoded(first))
        }
        #expect(proxy.origin.requests.count == 3)
        #expect(proxy.origin.requests.allSatisfy { $0.body == Array("{}".utf8) })
        let get = try proxy.fetch("/graphql", next)
        #expect(try get.carriesDecoded(second), "no stored response to content is revalidated for a GET")
    }

    // MARK: Whose response it is

    @Test func `two users never share, whatever they ask`() throws {
        let proxy = try Self.proxy("methods: [POST], key: [op]", "Cache-Control: max-age=60")
        let (ann, bob) = ("Authorization: Bearer ann", "Authorization: Bearer bob")
        let given = try Self.post(proxy, #"{"op":"Feed"}"#, ann)
        let offer = try #require(given["Use-As-Dictionary"].flatMap { UseAsDictionary.parse([$0]) })
        #expect(offer.id.utf8.count == 22 && offer.match == "/graphql")
        let own = try Self.post(proxy, #"{"op":"Feed"}"#, ann, next, over: first)
        #expect(try own.coding == "dcz" && own.carriesDecoded(second, over: first))
        // Bob names Ann's digest, with an id that he made up.
        let made = "Dictionary-ID: \"\(String(repeating: "A", count: 22))\""
        let foreign = try Self.post(proxy, #"{"op":"Feed"}"#, bob, next, made, over: first)
        #expect(foreign.coding != "dcz" && foreign["Dictum-Explain"]?.contains("dictionary-unknown") == true)
    }

    // MARK: Operations

    /// Returns the bodies that are the newest of an operation.
    private func newest(_ proxy: TestProxy, _ variant: String) -> Digest? {
        let chain = ChainKey(authority: "api.test", match: "/graphql")
        let key = VersionKey(chain: chain, url: "/graphql", variant: variant)
        return proxy.server.context.store.reader().newest(key)?.digest
    }

    @Test(arguments: [
        (#"{"op":"Feed"}"#, "4:{op}=4:Feed;"), (#"{"q":{"op":"X"},"\u006fp":"Feed"}"#, "4:{op}=4:Feed;"),
        (#"[{"op":"Feed"}]"#, ""), (#"{"op":"Feed","op":"Feed"}"#, ""), ("op=Feed", ""),
        (#"{"op":"Feed""#, ""), ("", ""),
    ])
    func `an operation has versions of its own, and what names none has those of the URL`(
        text: String, variant: String
    ) throws {
        let proxy = try Self.proxy()
        #expect(try Self.post(proxy, text)["Use-As-Dictionary"] == #"match="/graphql""#)
        #expect(newest(proxy, variant) == Digest(of: first.span))
        #expect(newest(proxy, "4:{op}=7:Profile;") == nil)
    }

    @Test func `a body in many pieces names its operation, and is not held back`() throws {
        let proxy = try Self.proxy()
        let client = try proxy.connect()
        client.send(wire("POST /graphql HTTP/1.1", "Host: api.test", "Transfer-Encoding: chunked"))
        for byte in #"{"op":"Feed"}"#.utf8 { client.send(Array("1\r\n".utf8) + [byte] + Array("\r\n".utf8)) }
        client.send(Array("0\r\n\r\n".utf8))
        #expect(try client.receive().status == 200)
        #expect(newest(proxy, "4:{op}=4:Feed;") == Digest(of: first.span))
    }

    @Test func `an operation of the query stands in the match, one of the body beside it in the variant`()
        throws
    {
        let proxy = try Self.proxy()
        let answer = try Self.post(proxy, #"{"op":"Other"}"#, target: "/graphql?op=Feed")
        #expect(answer["Use-As-Dictionary"] == #"match="/graphql?{*&}?op=Feed{&*}?""#)
        let chain = ChainKey(authority: "api.test", match: "/graphql?{*&}?op=Feed{&*}?")
        let key = VersionKey(chain: chain, url: "/graphql?op=Feed", variant: "4:{op}=5:Other;")
        #expect(proxy.server.context.store.reader().newest(key)?.digest == Digest(of: first.span))
        let delta = try Self.post(
            proxy, #"{"op":"Other"}"#, next, target: "/graphql?v=2&op=Feed", over: first)
        #expect(try delta.coding == "dcz" && delta.carriesDecoded(second, over: first))
        let other = try Self.post(proxy, "{}", next, target: "/graphql?op=Profile", over: first)
        #expect(other.coding != "dcz", "the match of one operation does not fit another")
    }

    @Test func `made-up operations push out nothing that a client holds`() throws {
        let proxy = try Self.proxy()
        _ = try Self.post(proxy, #"{"op":"Feed"}"#)
        _ = try Self.post(proxy, #"{"op":"Feed"}"#, over: first)
        for number in 0..<200 { _ = try Self.post(proxy, #"{"op":"\#(number)"}"#, next) }
        #expect(
            proxy.server.context.store.statistics.chains <= 2,
            "they are variants of one chain, as queries are")
        let answer = try Self.post(proxy, #"{"op":"Feed"}"#, next, over: first)
        #expect(try answer.coding == "dcz" && answer.carriesDecoded(second, over: first))
    }

    @Test func `a body whose length was a lie names nothing, and nothing is kept of it`() throws {
        let proxy = try Self.proxy()
        let client = try proxy.connect()
        client.send(
            wire("POST /graphql HTTP/1.1", "Host: api.test", "Content-Length: 1000")
                + Array(#"{"op":"Feed"}"#.utf8))
        client.closeWriting()
        _ = client.receiveAll()
        #expect(newest(proxy, "4:{op}=4:Feed;") == nil && newest(proxy, "") == nil)
    }

    // MARK: One coding for all

    @Test(arguments: ["QUERY", "POST"])
    func `a response that several clients get is coded once`(method: String) throws {
        let proxy = try Self.proxy()
        let text = #"{"op":"Feed"}"#
        _ = try Self.post(proxy, text, method: method)
        let answers = try (0..<3).map { _ in
            try Self.post(proxy, text, next, method: method, over: first)
        }
        for answer in answers {
            #expect(try answer.coding == "dcz" && answer.carriesDecoded(second, over: first))
        }
        #expect(proxy.server.context.deltas.statistics.cache.misses == 1)
        for answer in answers.dropFirst() {
            #expect(answer["Dictum-Explain"]?.contains("delta-cached") == true)
        }
    }

    // MARK: Other ways to send a body

    @Test func `over HTTP/2 operations are named, and get deltas`() throws {
        let proxy = try Self.proxy()
        let peer = try proxy.connectHTTP2()
        let fields = [("accept-encoding", "dcz"), ("content-type", "application/json")]
        let named = [("available-dictionary", ":\(Digest(of: first.span).base64):"), ("x-version", "1")]
        for (stream, added) in [(Int32(1), []), (3, named)] {
            peer.request(stream, "/graphql", method: "POST", fields + added, endsStream: false)
            for byte in #"{"op":"Feed"}"#.utf8 { peer.data(stream, [byte]) }
            peer.data(stream, [], endsStream: true)
            let answer = try #require(peer.response(stream))
            #expect(answer.status == "200")
            if stream == 1 {
                #expect(newest(proxy, "4:{op}=4:Feed;") == Digest(of: first.span))
            } else {
                #expect(answer["content-encoding"] == "dcz")
                let decoded = try Codec.decode(
                    answer.body.span, .dcz, dictionary: Body(first), limits: DecoderLimits(maxBytes: 1 << 20))
                #expect(decoded == second)
            }
        }
    }

    /// A proxy before an upstream that the test serves by hand.
    private static func served() throws -> (TestProxy, WireListener) {
        let listener = try WireListener()
        let settings = "routes: [{match: /graphql, dictionary: {methods: [POST], key: [op]}}]"
        let urls = ["http://127.0.0.1:\(listener.port)"]
        return (
            try TestProxy(Origin(wire("HTTP/1.1 404 Not Found", body: [])), settings, urls: urls), listener
        )
    }

    private static let answer = wire("HTTP/1.1 200 OK", "Content-Type: application/json", fresh, body: first)

    @Test func `a body that waits for the upstream's 100 names its operation`() throws {
        let (proxy, listener) = try Self.served()
        let client = try proxy.connect()
        let body = Array(#"{"op":"Feed"}"#.utf8)
        client.send(
            wire(
                "POST /graphql HTTP/1.1", "Host: api.test", "Expect: 100-continue",
                "Content-Length: \(body.count)"))
        let upstream = try listener.accept()
        #expect(upstream.readHead().lowercased().contains("expect: 100-continue"))
        upstream.send("HTTP/1.1 100 Continue\r\n\r\n")
        #expect(client.readHead() == "HTTP/1.1 100 Continue\r\n\r\n")
        client.send(body)
        #expect(upstream.receiveExactly(body.count) == body)
        upstream.send(Self.answer)
        #expect(try client.receive().carries(first))
        #expect(newest(proxy, "4:{op}=4:Feed;") == Digest(of: first.span))
    }

    @Test func `a body without end names nothing, and holds nothing`() throws {
        let (proxy, listener) = try Self.served()
        let client = try proxy.connect()
        client.send(wire("POST /graphql HTTP/1.1", "Host: api.test", "Transfer-Encoding: chunked"))
        client.send(chunk(Array(#"{"op":"Feed","x":""#.utf8)))
        let upstream = try listener.accept()
        _ = upstream.readHead()
        for _ in 0..<40 {
            client.send(chunk([UInt8](repeating: 97, count: 4_096)))
            _ = upstream.receiveExactly(4_096)
        }
        upstream.send(Self.answer)
        #expect(try client.receive().carries(first))
        #expect(newest(proxy, "4:{op}=4:Feed;") == nil && newest(proxy, "") == Digest(of: first.span))
        try waitUntil("all memory is given back") {
            proxy.server.context.shared.coding.memory.takenBytes == 0
        }
    }

    @Test(arguments: [
        "Content-Type: application/json\r\nContent-Type: text/plain",
        "Content-Encoding: gzip\r\nContent-Encoding: identity", "Content-Encoding: gzip, br",
    ])
    func `a QUERY with two meanings passes as it came, and changes no body`(fields: String) throws {
        let proxy = try Self.proxy()
        let text = #"{"op":"Feed"}"#
        _ = try Self.post(proxy, text, method: "QUERY")
        let answer = try Self.post(proxy, text, next, fields, method: "QUERY", over: first)
        #expect(try answer.coding == "dcz" && answer.carriesDecoded(second, over: first))
        let got = try #require(proxy.origin.requests.last)
        let lines = fields.split(separator: "\r\n").map { String($0.drop { $0 != ":" }.dropFirst(2)) }
        #expect(got.body == Array(text.utf8))
        #expect(got.values(String(fields.prefix { $0 != ":" })) == lines)
    }
}
