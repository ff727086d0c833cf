internal import Primitives
internal import Testing

@testable import HTTP

/// The translation of a request's fields into a head that may go on as HTTP/1.1 (RFC 9113 section 8.3).
struct RequestAssemblerTests {
    private func assemble(
        _ fields: [(String, String)], hasBody: Bool = false, limits: MessageLimits = MessageLimits()
    ) throws(ParseError) -> (head: RequestHead, framing: BodyFraming) {
        var assembler = RequestAssembler(limits: limits)
        for (name, value) in fields {
            assembler.append(name.utf8.span, value.utf8.span, isTrailer: false)
        }
        let (head, framing, _) = try assembler.finish(hasBody: hasBody) { "key" }
        return (head, framing)
    }

    private func written(_ fields: [(String, String)], hasBody: Bool = false) throws -> String {
        var bytes: [UInt8] = []
        HeadWriter.write(try assemble(fields, hasBody: hasBody).head, into: &bytes)
        return String(bytes.span)
    }

    private let get = [(":method", "GET"), (":scheme", "https"), (":authority", "a.test"), (":path", "/x?y")]
    private let post = [(":method", "POST"), (":scheme", "https"), (":authority", "a.test"), (":path", "/")]

    @Test func `:authority becomes Host, before all others`() throws {
        #expect(
            try written(get + [("accept", "*/*"), ("x-own", "1")])
                == "GET /x?y HTTP/1.1\r\nHost: a.test\r\nAccept: */*\r\nx-own: 1\r\n\r\n")
    }

    @Test func `Host alone does, and one that equals the authority is one`() throws {
        let path = [(":method", "GET"), (":scheme", "https"), (":path", "/")]
        #expect(try written(path + [("host", "b.test")]) == "GET / HTTP/1.1\r\nHost: b.test\r\n\r\n")
        #expect(try written(get + [("host", "A.TEST")]).contains("Host: a.test\r\n"))
    }

    @Test func `crumbs of a cookie are joined`() throws {
        let text = try written(get + [("cookie", "a=1"), ("x-own", "1"), ("cookie", "b=2")])
        #expect(text == "GET /x?y HTTP/1.1\r\nHost: a.test\r\nx-own: 1\r\nCookie: a=1; b=2\r\n\r\n")
    }

    @Test func `a request is framed by its length, else by chunks`() throws {
        #expect(try assemble(get).framing == .none)
        #expect(try assemble(post, hasBody: true).framing == .chunked)
        #expect(try assemble(post + [("content-length", "5")], hasBody: true).framing == .length(5))
        #expect(try assemble(post).framing == .length(0), "and says that it is empty")
        #expect(try written(post).contains("Content-Length: 0\r\n"))
        for (method, framing) in [
            ("POST", BodyFraming.length(0)), ("PUT", .length(0)), ("PATCH", .length(0)),
            ("QUERY", .length(0)),
            ("DELETE", .none), ("GET", .none),
        ] {
            let fields = [(":method", method)] + post.dropFirst()
            #expect(try assemble(fields).framing == framing, "\(method)")
            #expect(try assemble(fields + [("content-length", "0")]).framing == .length(0), "\(method)")
        }
    }

    @Test(arguments: [
        ([("host", "b.test")], ParseError.malformedHost),
        ([("host", "a.test"), ("host", "a.test")], .repeatedHost),
        ([("content-length", "5")], .malformedContentLength),
        ([("content-length", "5"), ("content-length", "5")], .repeatedContentLength),
        ([("content-length", "+0")], .malformedContentLength),
        ([("content_length", "0")], .disguisedFramingField),
        ([("transfer_encoding", "chunked")], .disguisedFramingField),
        ([("x_forwarded_for", "1")], .disguisedForwardingField),
        ([("transfer-encoding", "chunked")], .malformedContentLength),
    ])
    func `what HTTP/1.1 would refuse is refused`(fields: [(String, String)], error: ParseError) {
        // nghttp2 refuses Transfer-Encoding before; without a body it is refused here too.
        #expect(throws: error) { _ = try self.assemble(self.get + fields) }
    }

    @Test(arguments: ["a.test@evil", "a.test/", "a test", "a.test:x", "a,b", ""])
    func `an authority that is no host is refused`(authority: String) {
        let fields = [(":method", "GET"), (":scheme", "https"), (":authority", authority), (":path", "/")]
        #expect(throws: ParseError.malformedHost) { _ = try self.assemble(fields) }
    }

    @Test(arguments: ["http://b.test/", "*", "x", "/a#b", "/a b", "/\u{e9}", ""])
    func `a path that is no origin form is refused`(path: String) {
        let fields = [(":method", "GET"), (":scheme", "https"), (":authority", "a.test"), (":path", path)]
        #expect(throws: ParseError.malformedTarget) { _ = try self.assemble(fields) }
    }

    @Test func `CONNECT names an authority, and an extended CONNECT becomes an Upgrade`() throws {
        let tunnel = [(":method", "CONNECT"), (":authority", "a.test:443")]
        #expect(try assemble(tunnel, hasBody: true).head.target.form == .authority)
        let socket = [
            (":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "https"), (":path", "/chat"),
            (":authority", "a.test"), ("sec-websocket-version", "13"), ("origin", "https://a.test"),
        ]
        #expect(
            try written(socket, hasBody: true)
                == "GET /chat HTTP/1.1\r\nHost: a.test\r\nsec-websocket-version: 13\r\n"
                + "Origin: https://a.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                + "sec-websocket-key: key\r\n\r\n")
    }

    // RFC 8441 section 5: HTTP/2 needs no key. The upstream must get the key by which the proxy checks its answer.
    @Test(
        arguments: [("websocket", "key"), ("WebSocket", "key"), ("connect-udp", nil)] as [(String, String?)])
    func `WebSocket in any case has one key, that of the proxy, and other protocols have none of it`(
        name: String, key: String?
    ) throws {
        let fields = [
            (":method", "CONNECT"), (":protocol", name), (":scheme", "https"), (":path", "/chat"),
            (":authority", "a.test"), ("x-own", "1"),
        ]
        let head = try assemble(fields, hasBody: true).head
        #expect(head.headers.first(.secWebSocketKey) == key)
        let own = try assemble(fields + [("sec-websocket-key", "own")], hasBody: true).head
        #expect(own.headers.joined(.secWebSocketKey) == key ?? "own")
    }

    @Test func `the target has a limit`() throws {
        let limits = MessageLimits(requestTargetBytes: 10)
        var fields = get
        fields[3].1 = "/" + String(repeating: "x", count: 9)
        #expect(try assemble(fields, limits: limits).head.target.text.utf8.count == 10)
        fields[3].1 += "x"
        #expect(throws: ParseError.targetTooLong) { _ = try self.assemble(fields, limits: limits) }
    }

    @Test func `trailers have room of their own behind a head, and lose what no trailer may say`() throws {
        // 7 + 3, 7 + 5, 10 + 6 and 5 + 4 bytes, and 32 for each field, are 175.
        var assembler = RequestAssembler(limits: MessageLimits(headBytes: 175, trailerBytes: 85))
        for (name, value) in get { assembler.append(name.utf8.span, value.utf8.span, isTrailer: false) }
        _ = try assembler.finish(hasBody: true)
        for (name, value) in [("x-sum", "1"), ("content-length", "9")] {
            assembler.append(name.utf8.span, value.utf8.span, isTrailer: true)
        }
        let trailers = try assembler.finishTrailers()
        #expect(trailers.count == 1 && trailers.first(HeaderName(token: "x-sum".utf8.span)) == "1")
        assembler.append("x".utf8.span, "".utf8.span, isTrailer: true)
        #expect(throws: ParseError.trailersTooLarge) { try assembler.finishTrailers() }
    }
}

/// What a connection may cost beyond its responses.
struct HTTP2BudgetTests {
    @Test func `a hundred resets are allowed, and each response earns another`() {
        var budget = HTTP2Budget(now: 0)
        let allowed = (0..<101).map { _ in budget.countReset(now: 0) }
        #expect(allowed == Array(repeating: true, count: 100) + [false])
        var other = HTTP2Budget(now: 0)
        let earned = (0..<10_000).map { _ in
            other.responseCompleted()
            return other.countReset(now: 0)
        }
        #expect(!earned.contains(false))
    }

    @Test func `ten resets a second come back, and never more than a hundred`() {
        var budget = HTTP2Budget(now: 0)
        func allowed(_ now: Int64) -> Int { (0..<150).count { _ in budget.countReset(now: now) } }
        #expect(allowed(999) == 100)
        // The fifty that were refused count too.
        #expect(allowed(5_999) == 0)
        #expect(allowed(1_000_000) == 100)
    }

    @Test func `a response that has begun and is a second old may be left for nothing`() {
        var budget = HTTP2Budget(now: 0)
        let free = (0..<1_000).map { _ in budget.countReset(now: 0, bodyAge: 1_000) }
        #expect(!free.contains(false))
        let counted = (0..<101).map { _ in budget.countReset(now: 0, bodyAge: 999) }
        #expect(counted == Array(repeating: true, count: 100) + [false])
    }

    @Test func `a thousand control frames are allowed, ten a second more, and those that responses need`() {
        var budget = HTTP2Budget(now: 0)
        let allowed = (0..<1_001).map { _ in budget.countControlFrame(now: 999) }
        #expect(allowed == Array(repeating: true, count: 1_000) + [false])
        let later = (0..<10).map { _ in budget.countControlFrame(now: 1_999) }
        #expect(later == Array(repeating: true, count: 9) + [false], "the refused one counts too")
        let justified = (0..<100).map { _ in
            budget.passed(3 * 256)
            return budget.countControlFrame(now: 1_999)
        }
        #expect(!justified.contains(false))
        let answered = (0..<100).flatMap { _ in
            budget.responseCompleted()
            return (0..<8).map { _ in budget.countControlFrame(now: 1_999) }
        }
        #expect(!answered.contains(false))
    }

    @Test func `many small pieces of bodies justify as much as large ones, and no more`() {
        func refusals(piecesPerFrame: Int) -> Bool {
            var budget = HTTP2Budget(now: 0)
            return (0..<5_000).contains { _ in
                for _ in 0..<piecesPerFrame { budget.passed(64) }
                return !budget.countControlFrame(now: 0)
            }
        }
        #expect(!refusals(piecesPerFrame: 4))
        #expect(refusals(piecesPerFrame: 3))
    }

    @Test func `WebSocket's key is proven as in the RFC's example`() {
        // RFC 6455 section 1.3.
        #expect(WebSocketKey.accept("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    }
}
