internal import Dictionaries
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let first = Feed.bytes(version: 0, items: 40)
private let second = Feed.bytes(version: 1, items: 40)

private let settings = """
    explain: true
    routes: [{match: /*, dictionary: {scope: private, identity: "response:X-Account"}}]
    """

/// Returns a proxy whose upstream copies the user from X-User to X-Account.
private func proxy(_ settings: String = settings) throws -> TestProxy {
    let origin = try Origin { request, connection in
        let account = request["X-User"].map { ["X-Account: \($0)"] } ?? []
        let twice = request["X-Twice"].map { ["x-account: \($0)"] } ?? []
        let status = request["X-Status"] ?? "200 OK"
        let head = ["HTTP/1.1 \(status)", "Content-Type: application/json", #"ETag: "v""#] + account + twice
        if request["X-Trailer"] != nil {
            connection.send(
                wire("HTTP/1.1 200 OK", "Content-Type: image/png", "Transfer-Encoding: chunked")
                    + chunk([1]) + Array("0\r\nX-Account: ann\r\nX-Other: 1\r\n\r\n".utf8))
            return
        }
        if request["X-Hint"] != nil {
            connection.send(wire("HTTP/1.1 103 Early Hints", "X-Account: ann", "X-Other: 1"))
        }
        let isBodiless = request.method == "HEAD" || status.hasPrefix("304")
        let body = request["X-Version"] == "1" ? second : first
        connection.send(
            isBodiless
                ? wire(head.joined(separator: "\r\n")) : wire(head.joined(separator: "\r\n"), body: body))
    }
    return try TestProxy(origin, settings)
}

@Suite(.timeLimit(.minutes(40))) struct ResponseIdentityTests {
    @Test(arguments: ["dcz", "dcb"])
    func `the upstream says whose the answer is, and only theirs is a dictionary for it`(coding: String)
        throws
    {
        let proxy = try proxy()
        let plain = try proxy.fetch("/feed", "X-User: ann")
        #expect(plain.carries(first))
        #expect(plain["Use-As-Dictionary"] != nil)
        #expect(plain["X-Account"] == nil)
        let delta = try proxy.fetch("/feed", over: first, "X-User: ann", "X-Version: 1", accept: coding)
        #expect(delta.coding == coding)
        #expect(try delta.carriesDecoded(second, over: first))
        #expect(delta["X-Account"] == nil)
        let other = try proxy.fetch("/feed", over: first, "X-User: bob", "X-Version: 1", accept: coding)
        #expect(other["Dictum-Explain"]?.contains("dictionary-unknown") == true)
        #expect(other.carries(second))
    }

    @Test func `where it says nothing, or twice, nobody's dictionary is used and nothing is kept`() throws {
        let proxy = try proxy()
        _ = try proxy.fetch("/feed", "X-User: ann")
        for fields in [["X-A: 1"], ["X-User: ann", "X-Twice: ann"], ["X-User: "]] {
            let client = try proxy.connect()
            client.send(
                request("/feed", ["Accept-Encoding: dcz", available(first), "X-Version: 1"] + fields))
            let answer = try client.receive()
            #expect(answer["Dictum-Explain"]?.contains("identity-incomplete") == true)
            #expect(answer["Use-As-Dictionary"] == nil)
            #expect(answer["X-Account"] == nil)
        }
        #expect(proxy.server.context.store.statistics.versions == 1)
    }

    @Test(
        arguments: [
            "200 OK", "404 Not Found", "500 Oops", "206 Partial Content", "204 No Content", "302 Found",
        ], ["live", "observe"])
    func `no answer of any status passes it on, in either mode`(status: String, mode: String) throws {
        let answer = try proxy(settings + "\nmode: \(mode)").fetch(
            "/feed", "X-User: ann", "X-Status: \(status)")
        #expect(answer.status == Int(status.prefix(3)))
        #expect(answer["X-Account"] == nil)
    }

    @Test func `a 304 offers what it stands for, and does not pass the identity on`() throws {
        let proxy = try proxy()
        _ = try proxy.fetch("/feed", "X-User: ann")
        for (user, isOffered) in [("ann", true), ("bob", false)] {
            let answer = try proxy.fetch(
                "/feed", over: first, #"If-None-Match: "v""#, "X-User: \(user)", "X-Status: 304 Not Modified")
            #expect(answer.status == 304)
            #expect(answer["X-Account"] == nil)
            #expect((answer["Use-As-Dictionary"] != nil) == isOffered)
        }
        // The same where Dictum itself says 304.
        let own = try proxy.fetch("/feed", #"If-None-Match: "v""#, "X-User: ann")
        #expect(own.status == 304)
        #expect(own["X-Account"] == nil)
    }

    @Test func `a 304 about another version than the client holds offers nothing`() throws {
        let origin = try Origin { request, connection in
            let isSecond = request["X-Version"] == "1"
            let tag = "ETag: \"\(isSecond ? 1 : 0)\""
            connection.send(
                request["If-None-Match"] == nil
                    ? json(isSecond ? second : first, tag, "X-Account: ann")
                    : wire("HTTP/1.1 304 Not Modified", tag, "X-Account: ann"))
        }
        let proxy = try TestProxy(origin, settings)
        _ = try proxy.fetch("/feed", "X-User: ann")
        _ = try proxy.fetch("/feed", over: first, "X-User: ann", "X-Version: 1")
        for (version, isOffered) in [(0, true), (1, false)] {
            let answer = try proxy.fetch(
                "/feed", over: first, "If-None-Match: \"\(version)\"", "X-User: ann", "X-Version: \(version)")
            #expect(answer.status == 304)
            #expect((answer["Use-As-Dictionary"] != nil) == isOffered, "\(answer)")
        }
    }

    @Test func `HEAD does not pass it on`() throws {
        let answer = try proxy().fetch("/feed", "X-User: ann", method: "HEAD")
        #expect(answer.status == 200)
        #expect(answer["X-Account"] == nil)
        #expect(answer["Use-As-Dictionary"] == nil)
    }

    @Test(arguments: ["live", "observe"])
    func `neither interim answers nor trailers pass it on`(mode: String) throws {
        let proxy = try proxy(settings + "\nmode: \(mode)")
        let client = try proxy.connect()
        client.send(request("/feed", ["X-User: ann", "X-Hint: 1"]))
        let interim = try client.receive(isBodiless: true)
        #expect(interim.status == 103)
        #expect(interim["X-Other"] == "1")
        #expect(interim["X-Account"] == nil)
        #expect(try client.receive()["X-Account"] == nil)
        let other = try proxy.connect()
        other.send(request("/image", ["X-Trailer: 1", "TE: trailers", "Connection: TE, close"]))
        let text = String(decoding: other.receiveAll(), as: UTF8.self)
        #expect(text.contains("X-Other: 1") || text.contains("x-other: 1"))
        #expect(!text.lowercased().contains("x-account: ann"))
    }

    @Test(arguments: ["live", "observe"])
    func `the answer that changes the protocol does not pass it on`(mode: String) throws {
        let origin = try Origin { _, connection in
            connection.send(
                wire(
                    "HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: websocket",
                    "X-Account: ann", "X-Other: 1"))
        }
        let proxy = try TestProxy(origin, settings + "\nmode: \(mode)")
        let client = try proxy.connect()
        client.send(request("/socket", ["Connection: Upgrade", "Upgrade: websocket"]))
        let head = try client.receiveHead()
        #expect(head.status == 101)
        #expect(head["X-Other"] == "1")
        #expect(head["X-Account"] == nil)
        client.finish()
    }

    @Test func `it is hidden while dictionaries are off everywhere, and passed where the route has none`()
        throws
    {
        #expect(try proxy(settings + "\ndictionaries: off").fetch("/feed", "X-User: ann")["X-Account"] == nil)
        #expect(
            try proxy("routes: [{match: /*, dictionary: off}]").fetch("/feed", "X-User: ann")["X-Account"]
                == "ann")
    }

    @Test func `a client cannot say whose the answer is`() throws {
        let proxy = try proxy()
        _ = try proxy.fetch("/feed", "X-User: ann")
        let answer = try proxy.fetch("/feed", over: first, "X-Account: ann", "X-Version: 1")
        #expect(answer["Dictum-Explain"]?.contains("identity-incomplete") == true)
    }
}
