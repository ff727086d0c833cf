internal import TestSupport
internal import Testing

@testable import Proxy

private let body = Feed.bytes(version: 0, items: 40)
private let value = "public, max-age=60, stale-while-revalidate=86400"
private let settings = #"routes: [{match: "/*", dictionary: {cache_control: "\#(value)"}}]"#

/// `cache_control` and `ttl` on the wire.
@Suite(.timeLimit(.minutes(40))) struct CacheControlSettingTests {
    @Test func `it replaces the upstream's word and what would contradict it`() throws {
        let answer = try TestProxy(
            json(
                body, "Cache-Control: no-cache", "Cache-Control: max-age=5", "Expires: 0",
                "Pragma: no-cache", "Age: 7", "Date: Fri, 01 Jan 2021 00:00:00 GMT"), settings
        ).fetch("/feed")
        #expect(answer.values("Cache-Control") == [value])
        #expect(answer["Expires"] == nil && answer["Pragma"] == nil)
        #expect(answer["Age"] == "7" && answer["Date"] == "Fri, 01 Jan 2021 00:00:00 GMT")
        #expect(answer["Use-As-Dictionary"] == #"match="/feed""#)
    }

    @Test func `an answer without any gets it, whatever its type`() throws {
        let proxy = try TestProxy(wire("HTTP/1.1 200 OK", "Content-Type: image/png", body: body), settings)
        #expect(try proxy.fetch("/image")["Cache-Control"] == value)
    }

    @Test func `HEAD and 304 have it, the upstream's and ours`() throws {
        let origin = try Origin { request, connection in
            let head = wire(
                "HTTP/1.1 200 OK", "Content-Type: application/json", #"ETag: "v1""#,
                "Cache-Control: no-cache", "Content-Length: \(body.count)")
            switch (request.method, request["If-None-Match"]) {
            case ("HEAD", _): connection.send(head)
            case (_, #""v1""#):
                connection.send(
                    wire("HTTP/1.1 304 Not Modified", #"ETag: "v1""#, "Cache-Control: no-cache"))
            default: connection.send(head + body)
            }
        }
        let proxy = try TestProxy(origin, settings)
        #expect(try proxy.fetch("/feed", method: "HEAD")["Cache-Control"] == value)
        for tag in [#""v1""#, #"W/"v1""#] {
            let answer = try proxy.fetch("/feed", "If-None-Match: \(tag)")
            #expect(answer.status == 304)
            #expect(answer.values("Cache-Control") == [value])
        }
    }

    @Test(arguments: [
        ("Cache-Control: private, max-age=5", ""), ("Cache-Control: no-store", ""),
        ("Cache-Control: no-transform", ""), ("Cache-Control: max-age=5\r\nSet-Cookie: a=b", ""),
        ("Cache-Control: max-age=5\r\nVary: Cookie", "Cookie: a=b"),
        ("Cache-Control: max-age=5", "Cookie: a=b"),
        ("Cache-Control: max-age=5", "Authorization: Bearer x"), ("Cache-Control: max-age=5", "X-Api-Key: k"),
        ("Cache-Control: no-cache, must-revalidate", "Authorization: Bearer x"),
        ("Cache-Control: max-age=5, immutable", "Cookie: a=b"),
    ])
    func `what is somebody's own, or must not be kept, keeps the upstream's word`(
        field: String, asked: String
    ) throws {
        let proxy = try TestProxy(json(body, field), settings)
        let answer = try asked.isEmpty ? proxy.fetch("/feed") : proxy.fetch("/feed", asked)
        let own = field.prefix { $0 != "\r\n" }
        #expect(answer.values("Cache-Control").map { "Cache-Control: \($0)" } == [String(own)])
    }

    @Test(arguments: ["404 Not Found", "500 Internal Server Error", "201 Created"])
    func `other statuses and POST keep the upstream's word`(status: String) throws {
        let failing = try TestProxy(
            wire(
                "HTTP/1.1 \(status)", "Content-Type: application/json", "Cache-Control: no-cache", body: body),
            settings)
        #expect(try failing.fetch("/feed")["Cache-Control"] == "no-cache")
        let proxy = try TestProxy(json(body, "Cache-Control: no-cache"), settings)
        #expect(try proxy.fetch("/feed", method: "POST", body: [])["Cache-Control"] == "no-cache")
    }

    @Test func `switched off, the upstream's word stands`() throws {
        let proxy = try TestProxy(json(body, "Cache-Control: no-cache"), settings + "\ndictionaries: off")
        #expect(try proxy.fetch("/feed")["Cache-Control"] == "no-cache")
    }

    @Test func `a ttl is a member of the field`() throws {
        let proxy = try TestProxy(
            json(body),
            #"routes: [{match: "/*", dictionary: {ttl: 1500ms, match_dest: [script], delivery: in_band}}]"#)
        #expect(try proxy.fetch("/a")["Use-As-Dictionary"] == #"match="/a", match-dest=("script"), ttl=1"#)
    }
}
