internal import HTTP
internal import TestSupport
internal import Testing

@testable import Proxy

private let answer = json(Array("{}".utf8))
private let trace = "0af7651916cd43dd8448eb211c80319c"

/// Tests X-Request-ID in upstream requests and in the log, and the unchanged traceparent.
@Suite(.timeLimit(.minutes(40))) struct RequestIDTests {
    /// The identifiers that the upstream got with these requests, each with its own fields, and the lines of the log.
    private func ask(
        _ settings: String = "", field: String = "X-Request-ID", _ requests: String...
    ) throws -> (ids: [[String]], lines: [String]) {
        let proxy = try TestProxy(try Origin(answer), settings, isLogged: true)
        for fields in requests {
            let received = try proxy.fetch("/a", fields.isEmpty ? "X-Other: 1" : fields)
            #expect(received.status == 200)
            #expect(received["X-Request-ID"] == nil, "the client is not told")
        }
        return (proxy.origin.requests.map { $0.values(field) }, proxy.lastLines())
    }

    private func isMade(_ values: [String]) -> Bool {
        values.count == 1 && values[0].wholeMatch(of: /[0-9a-f]{32}/) != nil
    }

    @Test func `a request without an identifier gets one of its own, which the log has`() throws {
        let (ids, lines) = try ask("", "", "", "")
        #expect(ids.allSatisfy(isMade))
        #expect(Set(ids).count == 3)
        for (id, line) in zip(ids, lines.sorted { $0 < $1 }) {
            #expect(lines.contains { $0.contains(#""request_id":"\#(id.first ?? "")""#) }, "\(line)")
        }
    }

    @Test(arguments: [
        "r-1", "a", String(repeating: "x", count: 128), "1/2+3=:@_.~-".replacing("~", with: ""),
    ])
    func `the identifier of a trusted peer is kept`(id: String) throws {
        let (ids, lines) = try ask("", "x-request-id: \(id)")
        #expect(ids == [[id]])
        #expect(lines.first?.contains(#""request_id":"\#(id)""#) == true)
    }

    @Test(arguments: [
        "X-Request-ID:", "X-Request-ID: a b", "X-Request-ID: \(String(repeating: "x", count: 129))",
        "X-Request-ID: a\r\nX-Request-ID: b", "X-Request-ID: <script>", #"X-Request-ID: "a""#,
        "X-Request-ID: a\r\nConnection: X-Request-ID",
    ])
    func `an identifier that is none, or not for this hop, is replaced`(fields: String) throws {
        let (ids, lines) = try ask("", fields)
        #expect(ids.allSatisfy(isMade))
        #expect(lines.first?.contains(#""request_id":"\#(ids[0][0])""#) == true)
    }

    @Test func `the identifier of anybody else is replaced`() throws {
        let (ids, lines) = try ask(
            "trusted_proxies: []", "X-Request-ID: r-1", "x-request-id: r-1\r\nX-Request-Id: r-2")
        #expect(ids.allSatisfy(isMade))
        #expect(!lines.joined().contains("r-1"))
    }

    @Test(arguments: [("X-Request-ID", "x_request_id"), ("x_own_id", "X-Own-ID"), ("X-Own.ID", "x_own_id")])
    func `nor is one taken that a server would read as the field`(setting: String, sent: String) throws {
        let proxy = try TestProxy(
            try Origin(answer), "request_id: \(setting)\ntrusted_proxies: []", isLogged: true)
        #expect(try proxy.fetch("/a", "\(sent): forged").status == 200)
        let peer = try proxy.connectHTTP2()
        peer.request(1, "/a", [(sent.lowercased(), "forged")])
        #expect(peer.response(1)?.status == "200")
        for seen in proxy.origin.requests {
            #expect(!seen.fields.contains { $0.value == "forged" })
            #expect(isMade(seen.values(setting)))
        }
        #expect(proxy.origin.requests.count == 2)
    }

    @Test func `off, the field is one like any other`() throws {
        let (ids, lines) = try ask("request_id: off", "X-Request-ID: a b", "")
        #expect(ids == [["a b"], []])
        #expect(!lines.joined().contains("request_id"))
    }

    @Test func `another field may be the one, and then X-Request-ID passes`() throws {
        let settings = "request_id: X-Correlation-ID\ntrusted_proxies: []"
        #expect(try ask(settings, "X-Request-ID: mine\r\nx-correlation-id: mine").ids == [["mine"]])
        #expect(try ask(settings, field: "X-Correlation-ID", "x-correlation-id: mine").ids.allSatisfy(isMade))
    }

    @Test(arguments: ["Content-Length", "host", "true", "a b", "", "Connection"])
    func `a field that messages need, or that is none, is a mistake`(name: String) {
        #expect(throws: ConfigurationError.self) {
            try Configuration.parse(Array("upstream: {urls: [\"http://a\"]}\nrequest_id: \"\(name)\"".utf8))
        }
    }

    @Test func `an answer of the proxy's own is logged with the identifier that came`() throws {
        let proxy = try TestProxy(try Origin(answer), isLogged: true)
        #expect(try proxy.fetch("/a", "X-Request-ID: r-1", method: "TRACE").status == 501)
        #expect(proxy.lastLines().first?.contains(#""request_id":"r-1""#) == true)
    }

    @Test func `traceparent and tracestate pass as they come, and the log has the trace`() throws {
        let fields = "traceparent: 00-\(trace)-b7ad6b7169203331-01\r\ntracestate: a=1,b=2\r\ntracestate: c=3"
        let proxy = try TestProxy(try Origin(answer), isLogged: true)
        #expect(try proxy.fetch("/a", fields).status == 200)
        #expect(try proxy.fetch("/a").status == 200)
        let requests = proxy.origin.requests
        #expect(requests[0]["traceparent"] == "00-\(trace)-b7ad6b7169203331-01")
        #expect(requests[0].values("tracestate") == ["a=1,b=2", "c=3"])
        #expect(requests[1]["traceparent"] == nil)
        let lines = proxy.lastLines()
        #expect(lines.count { $0.contains(#""trace_id":"\#(trace)""#) } == 1)
        #expect(lines.count { $0.contains("trace_id") } == 1)
    }

    @Test(arguments: [
        ("00-\(trace)-b7ad6b7169203331-01", true), ("cc-\(trace)-b7ad6b7169203331-01-what", true),
        ("cc-\(trace)-b7ad6b7169203331-01", true), ("ff-\(trace)-b7ad6b7169203331-01", false),
        ("00-\(trace)-b7ad6b7169203331-01-", false), ("cc-\(trace)-b7ad6b7169203331-01x", false),
        ("00-00000000000000000000000000000000-b7ad6b7169203331-01", false),
        ("00-\(trace.uppercased())-b7ad6b7169203331-01", false), ("00-\(trace)-b7ad6b7169203331-0", false),
        ("00_\(trace)-b7ad6b7169203331-01", false), ("", false), ("00", false),
        ("00-\(trace)_b7ad6b7169203331-01", false), ("00-\(trace)-b7ad6b7169203331_01", false),
        ("00-\(trace)-b7ad6b716920333g-01", false), ("00-\(trace)-b7ad6b7169203331-0`", false),
        ("0:-\(trace)-b7ad6b7169203331-01-x", false),
    ])
    func `a trace is what the standard says`(value: String, isOne: Bool) {
        var headers = Headers()
        headers.append(.traceparent, value)
        #expect(RequestIdentifiers.traceID(in: headers) == (isOne ? Array(trace.utf8) : nil))
        headers.append(.traceparent, value)
        #expect(RequestIdentifiers.traceID(in: headers) == nil, "of two none is the one")
    }

    @Test(arguments: [0, 1, 0x0123_4567, 0x89ab_cdef, 0x9a9a_a9a9, 0xffff_ffff, 0xf0e1_d2c3] as [UInt64])
    func `eight digits made at once are those of the number`(bits: UInt64) {
        let digits = RequestIDGenerator.digits(bits)
        let text = (0..<8).map { UInt8(truncatingIfNeeded: digits >> UInt64(56 - 8 * $0)) }
        let plain = String(bits, radix: 16)
        #expect(
            String(decoding: text, as: UTF8.self) == String(repeating: "0", count: 8 - plain.utf8.count)
                + plain)
    }

    @Test func `identifiers differ from each other and from those of other loops`() {
        var seen: Set<String> = []
        for _ in 0..<4 {
            var generator = RequestIDGenerator()
            for _ in 0..<10_000 {
                let id = generator.next()
                seen.insert(String(decoding: id.indices.map { id[$0] }, as: UTF8.self))
            }
        }
        #expect(seen.count == 40_000)
        #expect(seen.allSatisfy { $0.wholeMatch(of: /[0-9a-f]{32}/) != nil })
    }
}
