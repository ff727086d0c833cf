internal import TestSupport
internal import Testing

@testable import Proxy

private let body = Feed.bytes(version: 0, items: 40)
private let everything = "dcz, dcb, zstd, br, gzip"

@Suite(.timeLimit(.minutes(40))) struct EligibilityTests {
    @Test(arguments: [
        "HTTP/1.1 404 Not Found", "HTTP/1.1 201 Created", "HTTP/1.1 500 Internal Server Error",
        "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-99/200",
        "HTTP/1.1 200 OK\r\nCache-Control: no-transform", "HTTP/1.1 200 OK\r\nContent-Encoding: compress",
    ])
    func `what must not be coded goes byte for byte`(head: String) throws {
        let proxy = try TestProxy(
            wire(head, "Content-Type: application/json", #"ETag: "v1""#, body: body))
        let answer = try proxy.fetch("/feed", over: body, accept: everything)
        #expect(answer.carries(body))
        #expect(answer["Content-Encoding"] == (head.contains("compress") ? "compress" : nil))
        #expect(answer["ETag"] == #""v1""#)
        #expect(answer["Content-Length"] == "\(body.count)")
    }

    @Test(arguments: ["Range: bytes=0-", "Cache-Control: no-transform"])
    func `a request can keep its answer from being coded`(field: String) throws {
        let proxy = try TestProxy(json(body))
        _ = try proxy.fetch("/feed")
        let answer = try proxy.fetch("/feed", over: body, field, accept: everything)
        #expect(answer.coding == "identity")
        #expect(answer.carries(body))
    }

    @Test(arguments: ["PUT", "DELETE", "PATCH", "OPTIONS"])
    func `only GET and POST have coded answers`(method: String) throws {
        let proxy = try TestProxy(json(body))
        let answer = try proxy.fetch("/feed", "Accept-Encoding: gzip", method: method, body: [])
        #expect(answer.coding == "identity")
        #expect(answer.carries(body))
    }

    @Test(arguments: [
        ("image/png", "identity"), ("application/vnd.api+json; charset=utf-8", "gzip"), ("TEXT/HTML", "gzip"),
    ])
    func `the type decides`(type: String, coding: String) throws {
        let proxy = try TestProxy(wire("HTTP/1.1 200 OK", "Content-Type: \(type)", body: body))
        #expect(try proxy.fetch("/feed", "Accept-Encoding: gzip").coding == coding)
    }

    @Test func `bodies below min_size are not coded, from it on they are`() throws {
        for (count, coding) in [(255, "identity"), (256, "gzip")] {
            let proxy = try TestProxy(json(Array(body.prefix(count))))
            #expect(try proxy.fetch("/feed", "Accept-Encoding: gzip").coding == coding)
        }
    }

    @Test(arguments: ["gzip", "br", "zstd"])
    func `a client without a dictionary gets the coding it accepts`(coding: String) throws {
        let proxy = try TestProxy(
            json(body, "Accept-Ranges: bytes", "Content-MD5: x", "Repr-Digest: sha-256=:x:"))
        let answer = try proxy.fetch("/feed", "Accept-Encoding: \(coding)")
        #expect(answer.coding == coding)
        #expect(try answer.carriesDecoded(body))
        #expect(answer["Accept-Ranges"] == nil)
        #expect(answer["Content-MD5"] == nil)
        #expect(answer["Repr-Digest"] == nil)
    }

    @Test(arguments: ["dcz", "dcb", "gzip"])
    func `a digest of other bytes than those that go out does not stay`(coding: String) throws {
        let fields = ["Content-Digest", "Digest", "Content-MD5", "Repr-Digest"]
        let origin = try Origin([
            json(body),
            wire(
                (["HTTP/1.1 200 OK", "Content-Type: application/json"] + fields.map { "\($0): sha-256=:x:" })
                    .joined(separator: "\r\n"), body: body + [0x20]),
        ])
        let proxy = try TestProxy(origin)
        _ = try proxy.fetch("/feed")
        let answer = try proxy.fetch("/feed", over: body, accept: coding)
        #expect(answer.coding == coding)
        for field in fields { #expect(answer[field] == nil, "\(field)") }
    }

    @Test(arguments: ["identity;q=0", "*;q=0"])
    func `a client that refuses everything gets identity, never 406`(accept: String) throws {
        let proxy = try TestProxy(json(body))
        let answer = try proxy.fetch("/feed", "Accept-Encoding: \(accept)")
        #expect(answer.status == 200)
        #expect(answer.carries(body))
    }

    @Test func `without Accept-Encoding nothing is coded`() throws {
        let proxy = try TestProxy(json(body))
        let answer = try proxy.fetch("/feed")
        #expect(answer.coding == "identity")
        #expect(answer["Content-Length"] == "\(body.count)")
    }

    @Test(arguments: ["HTTP/1.1 204 No Content", "HTTP/1.1 304 Not Modified"])
    func `an answer without a body stays without one`(status: String) throws {
        let proxy = try TestProxy(wire(status, #"ETag: "v1""#))
        let client = try proxy.connect()
        for _ in 0..<2 {
            client.send(request("/feed", ["Accept-Encoding: gzip"]))
            let answer = try client.receive()
            #expect(answer.body.isEmpty)
            #expect(answer["Content-Encoding"] == nil)
            #expect(answer["Transfer-Encoding"] == nil)
        }
    }

    /// RFC 9110 section 8.6.
    @Test func `a 204 has no length, whatever the upstream says`() throws {
        let answer = try TestProxy(wire("HTTP/1.1 204 No Content", "Content-Length: 0")).fetch("/feed")
        #expect(answer.status == 204 && answer["Content-Length"] == nil)
    }

    @Test func `an empty body is whole`() throws {
        let proxy = try TestProxy(json([]))
        let answer = try proxy.fetch("/feed", "Accept-Encoding: gzip")
        #expect(answer.coding == "identity")
        #expect(answer["Content-Length"] == "0")
    }

    @Test func `an HTTP/1.0 client gets a length or identity, never a coding that ends with the connection`()
        throws
    {
        let pieces = [Array(body.prefix(4_000)), Array(body.dropFirst(4_000))]
        let origin = try Origin { request, connection in
            guard request.target != "/whole" else {
                connection.send(json(body))
                return
            }
            let head = wire("HTTP/1.1 200 OK", "Content-Type: application/json", "Transfer-Encoding: chunked")
            connection.send(head + chunk(pieces[0]))
            pauseBeyondTheHold()
            connection.send(chunk(pieces[1]) + chunk([]))
        }
        let proxy = try TestProxy(origin)
        for (target, coding) in [("/whole", "gzip"), ("/pieces", "identity")] {
            let client = try proxy.connect()
            client.send(wire("GET \(target) HTTP/1.0", "Host: api.test", "Accept-Encoding: gzip"))
            let answer = try client.receive()
            #expect(answer.coding == coding)
            #expect(answer["Transfer-Encoding"] == nil)
            #expect(try answer.carriesDecoded(body))
            #expect((answer["Content-Length"] != nil) == (target == "/whole"))
        }
    }
}
