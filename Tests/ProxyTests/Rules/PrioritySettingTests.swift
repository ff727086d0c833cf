internal import TestSupport
internal import Testing

@testable import Proxy

private let body = Feed.bytes(version: 0, items: 40)

/// Priorities (RFC 9218) through both sides: the fields, and `priority` of a route.
@Suite(.timeLimit(.minutes(40))) struct PrioritySettingTests {
    private func routes(_ priority: String) -> String { "routes: [{match: \"/*\", priority: \(priority)}]" }

    @Test func `the fields of both sides pass, because they are end-to-end`() throws {
        let origin = try Origin { request, connection in
            connection.send(json(body, "Priority: \(request["Priority"] ?? "none"), x=1"))
        }
        let answer = try TestProxy(origin, "").fetch("/feed", "Priority: u=4, i")
        #expect(answer.values("Priority") == ["u=4, i, x=1"])
    }

    @Test(arguments: [
        ("interactive", "u=1"), ("background", "u=5"), ("bulk", "u=7"), ("u=0", "u=0"), ("i", "i"),
        ("\"u=2,i\"", "u=2, i"), ("\"u=6, i=?0\"", "u=6, i=?0"),
        ("\"i, u=2\"", "u=2, i"), ("\"i=?1\"", "i"),
    ])
    func `a route's priority is a field of its responses`(setting: String, field: String) throws {
        let proxy = try TestProxy(json(body), routes(setting))
        #expect(try proxy.fetch("/feed").values("Priority") == [field])
        #expect(
            try proxy.fetch("/feed", method: "TRACE").values("Priority") == [field], "also without upstream")
    }

    @Test(arguments: [
        ("bulk", "u=0, i", "u=7, i"), ("i", "u=2", "u=2, i"), ("\"u=1, i=?0\"", "u=6, i", "u=1, i=?0"),
        ("background", "no dictionary;", "u=5"), ("background", "u=9", "u=5"),
    ])
    func `it replaces the parameters that it names, and leaves the upstream's others`(
        setting: String, upstream: String, field: String
    ) throws {
        let proxy = try TestProxy(json(body, "Priority: \(upstream)"), routes(setting))
        #expect(try proxy.fetch("/feed").values("Priority") == [field])
    }

    @Test(arguments: [
        "urgent", "u=8", "u=-1", "\"u=1, x\"", "\"u=1,\"", "\"u=1, u=1\"", "\"\"", "7", "U=1", "[bulk]",
    ])
    func `anything else is a mistake`(setting: String) {
        #expect(throws: ConfigurationError.self) { try configuration(routes(setting)) }
    }

    @Test func `over HTTP/2 the responses of an interactive route overtake those of a bulk one`() throws {
        // One segment with its head, so that it has come once the client has the head.
        let body = [UInt8](repeating: 0x78, count: 2_000)
        let proxy = try TestProxy(
            wire("HTTP/1.1 200 OK", "Content-Type: image/png", "Priority: u=2", body: body),
            """
            routes:
            - {match: /files/*, priority: bulk}
            - {match: /api/*, priority: interactive}
            """)
        let peer = try HTTP2Peer(port: TestProxy.port(proxy.server.endpoints.first), settings: [(4, 0)])
        peer.request(1, "/files/a", [("priority", "u=0")])
        peer.request(3, "/other", [("priority", "u=0")])
        peer.request(5, "/api/a", [("priority", "u=6")])
        var heads: Set<Int32> = []
        while heads.count < 3 {
            heads.insert(try #require(peer.readFrame { $0.type == HTTP2Peer.Kind.headers }).stream)
        }
        let before = peer.frames.count
        peer.send(HTTP2Peer.Kind.settings, payload: [0, 4] + HTTP2Peer.number(100_000))
        for stream: Int32 in [1, 3, 5] { #expect(peer.response(stream)?.body.count == 2_000) }
        let ends = peer.frames[before...].filter(\.endsStream).map(\.stream)
        #expect(ends == [5, 3, 1])
        #expect(peer.response(1)?["priority"] == "u=7")
    }
}
