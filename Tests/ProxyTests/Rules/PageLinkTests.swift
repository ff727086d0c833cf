internal import TestSupport
internal import Testing

@testable import Proxy

private let page = Array("<!doctype html><title>Page</title>".utf8) + [UInt8](repeating: 0x20, count: 400)

/// What Dictum knows of the Links of a page, whose place those on a 304 would take (RFC 9111 section 3.2).
@Suite(.timeLimit(.minutes(40))) struct PageLinkTests {
    @Test(arguments: ["POST", "GET"])
    func `neither the response to another method nor an error says that a page has no Links`(method: String)
        throws
    {
        let origin = try Origin { request, connection in
            if request.target == "/api/feed" {
                let feed = Feed.bytes(version: 0, items: 40)
                return _ = connection.send(json(feed, "Cache-Control: public, max-age=10"))
            }
            if request["If-None-Match"] != nil {
                return _ = connection.send(wire("HTTP/1.1 304 Not Modified", #"ETag: "p""#))
            }
            if request["X-Missing"] != nil {
                return _ = connection.send(
                    wire("HTTP/1.1 404 Not Found", "Content-Type: text/html", body: page))
            }
            let hasLink = request.method == "GET" && request.target == "/"
            connection.send(html(page, #"ETag: "p""#, hasLink ? "Link: </a.css>; rel=preload" : "X-A: b"))
        }
        let proxy = try TestProxy(
            origin,
            """
            routes:
              - {match: /, announce: [/api/feed], dictionary: off}
              - {match: "/api/*"}
            """)
        try proxy.prove("/api/feed")
        let document = "Sec-Fetch-Dest: document"
        func links(_ target: String) throws -> [String] {
            let answer = try proxy.fetch(target, #"If-None-Match: "p""#, document)
            #expect(answer.status == 304)
            return answer.values("Link")
        }
        for target in ["/", "/?plain"] { #expect(try proxy.fetch(target, document).status == 200) }
        if method == "POST" {
            #expect(try proxy.fetch("/", document, method: method, body: [1]).status == 200)
        } else {
            #expect(try proxy.fetch("/", document, "X-Missing: 1").status == 404)
        }
        #expect(try links("/").isEmpty, "the page's own Link would be lost")
        #expect(try links("/?plain").count == 1)
    }
}
