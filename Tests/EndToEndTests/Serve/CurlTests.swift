internal import TestSupport
internal import Testing

private let body = Feed.bytes(version: 3, items: 200)

/// curl as it is, without any support for dictionaries, works unchanged.
@Suite(.timeLimit(.minutes(40))) struct CurlTests {
    /// Answers with the feed, or with the body that was uploaded.
    private func served() throws -> ServedProxy {
        let origin = try Origin { request, connection in
            let head = ["HTTP/1.1 200 OK", "Content-Type: application/json", #"ETag: "v3""#]
            if request["If-None-Match"] == #""v3""# {
                connection.send(wire("HTTP/1.1 304 Not Modified", #"ETag: "v3""#))
            } else if request.method == "HEAD" {
                connection.send(wire((head + ["Content-Length: \(body.count)"]).joined(separator: "\r\n")))
            } else {
                let sent = request.method == "GET" ? body : request.body
                connection.send(wire(head.joined(separator: "\r\n"), body: sent))
            }
        }
        return try ServedProxy(origin, in: TemporaryFolder())
    }

    @Test func `a plain GET is what the upstream sent`() throws {
        let answer = try served().curl("/feed")
        #expect(answer.carries(body))
        #expect(answer.head["Content-Encoding"] == nil)
        #expect(answer.head["ETag"] == #""v3""#)
    }

    @Test(arguments: ["gzip", "br", "zstd"])
    func `what curl accepts it decodes`(coding: String) throws {
        let answer = try served().curl("/feed", "--compressed", "-H", "Accept-Encoding: \(coding)")
        #expect(answer.carries(body))
        #expect(answer.head["Content-Encoding"] == coding)
    }

    @Test func `curl's own choice of codings works, over HTTP/1.0 too`() throws {
        let proxy = try served()
        #expect(try proxy.curl("/feed", "--compressed").carries(body))
        #expect(try proxy.curl("/feed", "--compressed", "--http1.0").carries(body))
    }

    @Test func `HEAD has the fields and no body`() throws {
        let answer = try served().curl("/feed", "-I")
        #expect(answer.code == 0)
        #expect(answer.head.status == 200)
        #expect(answer.head["Content-Length"] == "\(body.count)")
    }

    @Test func `a POST and a chunked upload reach the upstream and come back`() throws {
        let proxy = try served()
        try proxy.folder.write(body, to: "upload")
        #expect(try proxy.curl("/feed", "--data-binary", "@upload").carries(body))
        #expect(
            try proxy.curl("/feed", "-T", "upload", "-H", "Transfer-Encoding: chunked", "--compressed")
                .carries(body))
        #expect(
            try proxy.curl("/feed", "--data-binary", "@upload", "-H", "Expect: 100-continue").carries(body))
    }

    @Test(arguments: [[], ["--compressed"]])
    func `curl's saved ETag is answered 304`(options: [String]) throws {
        let proxy = try served()
        let tag = try proxy.curl("/feed", options.first ?? "-s").head["ETag"]
        let answer = try proxy.curl(
            "/feed", "-H", "If-None-Match: \(try #require(tag))", options.first ?? "-s")
        #expect(answer.code == 0)
        #expect(answer.head.status == 304)
        #expect(answer.body.isEmpty)
    }

    @Test func `an answer that breaks off is an error to curl`() throws {
        let origin = try Origin { request, connection in
            let isChunked = request.target == "/chunked"
            connection.send(
                wire(
                    "HTTP/1.1 200 OK", "Content-Type: application/json",
                    isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(body.count)"))
            connection.send(isChunked ? chunk(Array(body.prefix(9_000))) : Array(body.prefix(9_000)))
            pauseBeyondTheHold()
            connection.finish()
        }
        let proxy = try ServedProxy(origin, in: TemporaryFolder())
        for path in ["/chunked", "/length"] {
            for option in ["-s", "--compressed"] { #expect(try proxy.curl(path, option).code != 0) }
        }
    }
}
