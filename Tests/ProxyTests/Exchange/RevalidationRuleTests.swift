internal import Dictionaries
internal import HTTP
internal import Storage
internal import Testing

@testable import Proxy

/// The pure rules of revalidation: which requests may be asked about, and which heads are kept.
struct RevalidationRuleTests {
    private func request(_ lines: [String]) throws -> RequestHead {
        let text = (["GET /feed HTTP/1.1", "Host: api.test"] + lines + ["", ""]).joined(separator: "\r\n")
        var parser = HeadParser(limits: MessageLimits())
        return try #require(try parser.parseRequest(Array(text.utf8).span))
    }

    private func mayAsk(
        _ lines: [String] = [], framing: BodyFraming = .none, isPathNormal: Bool = true
    ) throws -> Bool {
        var facts = RequestFacts()
        facts.isPathNormal = isPathNormal
        return Revalidation.mayAsk(try request(lines), framing: framing, facts)
    }

    /// Returns what is kept of a 200 with a strong tag and these fields.
    private func kept(_ fields: (HeaderName, String)...) -> [UInt8]? {
        var headers = Headers()
        headers.append(.etag, #""v1""#)
        for (name, value) in fields { headers.append(name, value) }
        let head = ResponseHead(status: .ok, headers: headers)
        var facts = ResponseFacts()
        facts.read(head, framing: .length(7), types: MediaTypes(["application/json"]))
        return Revalidation.kept(
            head, facts, for: RequestFacts(), isOrdinary: true, acceptEncoding: .identity,
            source: "https:shop")
    }

    // MARK: The request

    @Test func `a request with content, for another protocol or for an odd path is not asked about`() throws {
        #expect(try mayAsk())
        #expect(try !mayAsk(["Content-Length: 2"], framing: .length(2)))
        #expect(try !mayAsk(["Connection: Upgrade", "Upgrade: websocket"]))
        #expect(try !mayAsk(isPathNormal: false))
    }

    /// RFC 9111 section 5.4.
    @Test func `Pragma counts only where there is no Cache-Control`() throws {
        #expect(try !mayAsk(["Pragma: no-cache"]))
        #expect(try mayAsk(["Pragma: no-cache", "Cache-Control: max-age=0"]))
        #expect(try !mayAsk(["Pragma: no-cache", "Cache-Control: no-cache"]))
    }

    @Test(
        arguments: [
            ("https://page.test", ["origin"], true), ("https://page.test", [], false), ("*", [], true),
        ] as [(String, [String], Bool)])
    func `a page of another origin shares a response that is for every origin, or varies by it`(
        allowed: String, varyNames: [String], isShared: Bool
    ) throws {
        var headers = Headers()
        headers.append(.accessControlAllowOrigin, allowed)
        let isOrdinary = Revalidation.isOrdinary(
            try request(["Origin: https://page.test"]), for: headers, varyingBy: varyNames,
            isPeerTrusted: false)
        #expect(isOrdinary == isShared)
    }

    // MARK: The head that is kept

    @Test(arguments: [
        "Expect", "Forwarded", "If-None-Match", "TE", "Via", "X-Forwarded-For", "X-Forwarded-Host",
        "X-Forwarded-Proto",
    ])
    func `a response that varies by a field that Dictum writes itself is not kept`(name: String) {
        #expect(kept((.vary, "Accept-Language")) != nil)
        #expect(kept((.vary, "Accept-Language, \(name)")) == nil)
    }

    @Test func `a kept head has the source of its route, whatever the upstream says, and shows it to nobody`()
        throws
    {
        let name = try #require(HeaderName("Dictum-Source"))
        let bytes = try #require(kept((name, "http:other")))
        let head = try #require(KeptHead(bytes))
        #expect(head.source == "https:shop")
        #expect(!head.head.headers.contains(name))
    }

    @Test func `a head of eight kibibytes is kept and read again, and one that is a byte longer is not`()
        throws
    {
        let name = try #require(HeaderName("X-Long"))
        func bytes(_ count: Int) -> [UInt8]? { kept((name, String(repeating: "x", count: count))) }
        let others = try #require(bytes(1)).count - 1
        let longest = try #require(bytes(StoredHead.bytesMax - others))
        #expect(longest.count == StoredHead.bytesMax)
        #expect(KeptHead(longest) != nil)
        #expect(bytes(StoredHead.bytesMax - others + 1) == nil)
    }
}
