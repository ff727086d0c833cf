import Dictionaries
import Foundation
import HTTP
import Primitives
import Storage
import Testing

@testable import Proxy

private func line(
    _ form: Configuration.Log.Access.Format, _ configuration: Configuration = Configuration(),
    rate: String? = nil,
    method: [UInt8] = Array("GET".utf8), target: [UInt8] = Array("/api/feed".utf8), forwarder: String? = nil,
    host: String? = nil, userAgent: [UInt8]? = nil, referer: String? = nil,
    change: (inout RequestRecord) -> Void = { _ in }
) -> String {
    var record = RequestRecord()
    record.timeMicroseconds = 1_700_000_000_123_456
    record.description = RequestDescription(
        client: Array("192.0.2.1".utf8), forwarder: forwarder.map { Array($0.utf8) }, method: method,
        target: target, host: host.map { Array($0.utf8) }, userAgent: userAgent,
        referer: referer.map { Array($0.utf8) })
    record.version = .http2
    record.status = 200
    change(&record)
    var buffer: [UInt8] = []
    AccessLogFormat(form, configuration: configuration, routes: RouteNames(configuration)).append(
        record, rate: rate.map { Array($0.utf8) }, to: &buffer)
    return String(decoding: buffer, as: UTF8.self)
}

private func full(_ record: inout RequestRecord) {
    record.bodyBytesBefore = 233_815
    record.bodyBytesSent = 525
    record.wireBytesSent = 900
    record.coding = .dcz
    record.reason = .delta
    record.routeIndex = 0
    record.durationMicroseconds = 71
    record.headMicroseconds = 65
    record.upstreamMicroseconds = 60
    record.upstreamStatus = 200
    record.upstream = LoggedUpstream("http://127.0.0.1:9000")
    record.requestID = Array("r-1".utf8)
}

@Suite struct AccessLogFormatTests {
    @Test func `a line of JSON has everything that is known`() {
        let head =
            #"{"time":"2023-11-14T22:13:20.123Z","client":"192.0.2.1","method":"GET","target":"/api/feed","#
        #expect(
            line(.json, change: full) == head
                + #""protocol":"HTTP/2.0","status":200,"coding":"dcz","reason":"delta","route":"/*","#
                + #""body_bytes":233815,"sent_body_bytes":525,"wire_bytes":900,"micros":71,"head_micros":65,"upstream_status":200,"#
                + #""upstream_micros":60,"upstream":"http://127.0.0.1:9000","request_id":"r-1","complete":true}"#
                + "\n")
        #expect(
            line(.json) { $0.isComplete = false } == head
                + #""protocol":"HTTP/2.0","status":200,"coding":"identity","body_bytes":0,"sent_body_bytes":0,"wire_bytes":0,"micros":0,"head_micros":0,"#
                + #""complete":false}"# + "\n")
    }

    @Test func `a line names the error for which there is no response of the upstream`() {
        let change = { (record: inout RequestRecord) in record.fault = .upstream("connection \"refused\"") }
        #expect(
            line(.json, change: change).contains(
                #""error":"connection \u0022refused\u0022","complete":true"#))
        #expect(line(.text, change: change).contains(#" error="connection \u0022refused\u0022""#))
    }

    @Test func `a line of text has everything that is known`() {
        let head = "2023-11-14T22:13:20.123Z 192.0.2.1 GET /api/feed HTTP/2.0 200 "
        #expect(
            line(.text, change: full) == head
                + "dcz delta 233815->525 wire=900 71us upstream=200/60us /* r-1 to=\"http://127.0.0.1:9000\"\n"
        )
        #expect(
            line(.text) { $0.isComplete = false } == head + "identity - 0->0 wire=0 0us - aborted\n")
    }

    @Test func `a line has what few requests have`() {
        let change = { (record: inout RequestRecord) in
            record.description = RequestDescription(
                client: Array("192.0.2.1".utf8), method: Array("GET".utf8), target: Array("/".utf8),
                traceID: Array("0af7".utf8))
            record.revalidation = .hit
            record.upstream = LoggedUpstream("http://a:1", of: "shop")
        }
        #expect(
            line(.text, change: change).hasSuffix(
                " identity - 0->0 wire=0 0us revalidation=hit - trace=0af7 to=\"shop at http://a:1\"\n"))
        let json = line(.json, change: change)
        for text in [
            #""upstream":"http://a:1","upstream_name":"shop","#, #""revalidation":"hit","#,
            #""trace_id":"0af7","#,
        ] {
            #expect(json.contains(text), "\(json)")
        }
        #expect(!line(.json) { $0.status = 0 }.contains("head_micros"), "there was no head")
    }

    @Test func `a refused connection has no protocol`() {
        #expect(!line(.json) { $0.version = nil }.contains("protocol"))
        #expect(line(.text) { $0.version = nil }.contains(" /api/feed - 200 "))
    }

    @Test func `a client that a proxy named has that proxy beside it`() {
        #expect(
            line(.json, forwarder: "10.0.0.1").contains(
                #""client":"192.0.2.1","forwarder":"10.0.0.1","method""#))
        #expect(line(.text, forwarder: "10.0.0.1").hasSuffix(" - via=10.0.0.1\n"))
    }

    @Test func `any byte of a target comes back from the JSON, and none breaks the line`() throws {
        let bytes = Array(UInt8.min...UInt8.max)
        let text = line(.json, target: bytes)
        #expect(text.utf8.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x0A })
        #expect(text.filter { $0 == "\n" }.count == 1)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let target = try #require(object["target"] as? String)
        #expect(target.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } == bytes)
    }

    @Test func `no control byte, space or backslash of a target gets into the text`() {
        let text = line(.text, target: Array("/a b\r\n\u{1B}[2J\\\u{7F}\u{E9}".utf8))
        #expect(text.contains(#" /a\x20b\x0d\x0a\x1b[2J\x5c\x7f\xc3\xa9 HTTP/2.0 200 "#))
        #expect(line(.text, target: []).contains(" GET - HTTP/2.0 200 "))
    }

    @Test(arguments: [
        ("/a?token=s3cret&b=1", "/a?token=-&b=1"),
        ("/a?b=1&TOKEN=s3cret", "/a?b=1&TOKEN=-"),
        ("/a?to%6ben=s3cret", "/a?to%6ben=-"),
        ("/a?token=s3;cret&b=1", "/a?token=-&b=1"),
        ("/a?b=1;token=s3;cret&c", "/a?b=1;token=-&c"),
        ("/a?token=s=3=cret", "/a?token=-"),
        ("/a?token&b", "/a?token&b"),
        ("/a?token=", "/a?token=-"),
        ("/a?tokens=1&b=token", "/a?tokens=1&b=token"),
        ("/a?sig=x&sig=y", "/a?sig=-&sig=-"),
        ("/token=s3cret", "/token=s3cret"),
        ("/a?b?token=1", "/a?b?token=-"),
        ("/a?token=s3cret?b=1", "/a?token=-"),
        ("/a??token=1&key=2", "/a??token=-&key=-"),
    ])
    func `the values of personal query names are not logged`(target: String, logged: String) {
        #expect(
            line(.text, target: Array(target.utf8)).contains(" GET \(logged) HTTP/2.0 200 "))
    }

    @Test(arguments: [Configuration.Log.Access.Format.json, .text, .combined, .vhostCombined])
    func `no form of a line has a personal query value, or the query of a private route`(
        form: Configuration.Log.Access.Format
    ) {
        let target = Array("/a?token=s3cret&b=1".utf8)
        #expect(line(form, target: target).contains("/a?token=-&b=1"))
        let own = line(form, target: target) { $0.isPrivate = true }
        #expect(own.contains("/a?-") && !own.contains("token"), "\(own)")
    }

    @Test func `no id or host that a client sends ends its word, its text or the line`() throws {
        let sent = Array("a b\"\r\nc".utf8)
        let change = { (record: inout RequestRecord) in record.requestID = sent }
        let host = String(decoding: sent, as: UTF8.self)
        let text = line(.text, forwarder: host, host: host, change: change)
        let word = #"a\x20b"\x0d\x0ac"#
        #expect(text.hasSuffix(" - \(word) via=\(word) host=\(word)\n"), "\(text)")
        let json = line(.json, forwarder: host, host: host, change: change)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        for key in ["request_id", "host", "forwarder"] { #expect(object[key] as? String == host, "\(key)") }
    }

    @Test func `which query names are personal is the configuration's`() {
        var configuration = Configuration()
        configuration.personalQuery = ["me"]
        let text = line(.text, configuration, target: Array("/a?me=1&token=2".utf8))
        #expect(text.contains(" /a?me=-&token=2 "))
    }

    @Test func `host, user agent, referer and the sampling rate are fields and words`() {
        let agent = Array("A/1 (\"x\")".utf8)
        #expect(
            line(.json, rate: "0.1", host: "api.test:80", userAgent: agent, referer: "https://a/b?token=1")
                .contains(
                    #""host":"api.test:80","protocol""#))
        #expect(
            line(.json, rate: "0.1", userAgent: agent, referer: "https://a/b?token=1").hasSuffix(
                #","user_agent":"A/1 (\u0022x\u0022)","referer":"https://a/b?-","sample_rate":0.1,"complete":true}"#
                    + "\n"))
        #expect(
            line(.text, rate: "1", host: "a", userAgent: agent, referer: "https://a/b").hasSuffix(
                #" host=a agent="A/1 (\u0022x\u0022)" referer="https://a/b" sample_rate=1"# + "\n"))
    }

    @Test(arguments: [
        (false, Configuration.Log.Access.ClientFields.publicRoutes, true), (true, .publicRoutes, false),
        (true, .all, true), (false, .none, false),
    ])
    func `which lines describe the client depends on the route and the configuration`(
        isPrivate: Bool, fields: Configuration.Log.Access.ClientFields, isShown: Bool
    ) {
        var configuration = Configuration()
        configuration.log.access.clientFields = fields
        for form in [Configuration.Log.Access.Format.json, .text, .combined] {
            let line = line(form, configuration, userAgent: Array("robot".utf8), referer: "https://page/") {
                $0.isPrivate = isPrivate
            }
            #expect(line.contains("robot") == isShown && line.contains("https://page/") == isShown, "\(line)")
        }
    }

    @Test(arguments: [
        (512, "agent"), (1_024, "referer"), (256, "host"), (4_096, "target"), (64, "method"),
    ])
    func `a field beyond its limit ends with three dots`(limit: Int, field: String) {
        for form in [Configuration.Log.Access.Format.json, .text, .combined, .vhostCombined]
        where form != .combined || field != "host" {
            for length in [limit, limit + 1] {
                let long = String(repeating: "x", count: length)
                let line = line(
                    form, method: Array((field == "method" ? long : "GET").utf8),
                    target: Array((field == "target" ? long : "/").utf8), host: field == "host" ? long : nil,
                    userAgent: field == "agent" ? Array(long.utf8) : nil,
                    referer: field == "referer" ? long : nil)
                let kept = String(repeating: "x", count: limit)
                #expect(line.contains(kept) && !line.contains(kept + "x"), "\(field)")
                #expect(line.contains(kept + "...") == (length > limit), "\(field)")
            }
        }
    }

    // Apache's LogFormat "%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-agent}i\"", as log analysers read it.
    private static var combined:
        Regex<(Substring, Substring, Substring, Substring, Substring, Substring, Substring, Substring)>
    {
        /(\S+) - - \[(\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000)\] "([^"\\]*(?:\\.[^"\\]*)*)" (\d{3}) (\d+) "([^"\\]*(?:\\.[^"\\]*)*)" "([^"\\]*(?:\\.[^"\\]*)*)"\n/
    }

    @Test func `a combined line is that of Apache and nginx, byte for byte`() {
        #expect(
            line(.combined, userAgent: Array("Mozilla/5.0 (X11)".utf8), referer: "https://a/b", change: full)
                == #"192.0.2.1 - - [14/Nov/2023:22:13:20 +0000] "GET /api/feed HTTP/2.0" 200 525 "https://a/b" "#
                + #""Mozilla/5.0 (X11)""# + "\n")
        #expect(
            line(.combined, method: []) { ($0.status, $0.version) = (0, nil) }
                == #"192.0.2.1 - - [14/Nov/2023:22:13:20 +0000] "-" 499 0 "-" "-""# + "\n")
    }

    @Test func `vhost_combined is the combined line behind the request's host`() {
        for (host, text) in [("api.example:8443", "api.example:8443"), ("a b\n", #"a\x20b\x0a"#), (nil, "-")]
        {
            #expect(
                line(.vhostCombined, host: host, change: full) == text + " " + line(.combined, change: full))
        }
    }

    @Test func `no byte of a client breaks a combined line or its quotation marks`() throws {
        let bytes = Array(UInt8.min...UInt8.max)
        let text = line(.combined, target: bytes, userAgent: bytes, referer: "\" 200 0 \"forged\r\n")
        #expect(text.utf8.dropLast().allSatisfy { (0x20...0x7E).contains($0) })
        let match = try #require(text.wholeMatch(of: Self.combined))
        #expect(match.output.4 == "200" && match.output.6 == #"\x22 200 0 \x22forged\x0D\x0A"#)
        #expect(match.output.7.contains(#"\x00\x01"#) && match.output.7.contains(#"\x5C"#))
    }

    @Test(arguments: [
        (0, "01/Jan/1970:00:00:00 +0000"), (951_782_400_000_000, "29/Feb/2000:00:00:00 +0000"),
        (1_735_689_599_999_000, "31/Dec/2024:23:59:59 +0000"),
    ])
    func `the combined format has the time of the Common Log Format`(microseconds: Int, text: String) {
        var buffer: [UInt8] = []
        Timestamp.appendCommon(microseconds, to: &buffer)
        #expect(String(decoding: buffer, as: UTF8.self) == text)
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
        (951_782_400_000_000, "2000-02-29T00:00:00.000Z"), (951_868_799_999_999, "2000-02-29T23:59:59.999Z"),
        (4_107_542_400_000_000, "2100-03-01T00:00:00.000Z"),
        (1_735_689_599_999_000, "2024-12-31T23:59:59.999Z"),
    ])
    func `a time is written in UTC`(microseconds: Int, text: String) {
        var buffer: [UInt8] = []
        Timestamp.append(microseconds, to: &buffer)
        #expect(String(decoding: buffer, as: UTF8.self) == text)
    }
}

@Suite struct RequestFaultTests {
    private func isFailure(_ status: Int, _ fault: RequestFault? = nil) -> Bool {
        var record = RequestRecord()
        (record.status, record.fault) = (status, fault)
        return record.isFailure
    }

    @Test func `a request has failed with a status from 500 on, or by a fault that is not its client's`() {
        #expect(isFailure(500) && !isFailure(499) && !isFailure(200))
        #expect(isFailure(200, .own("memory")) && isFailure(200, .upstream("silent")))
        #expect(!isFailure(400, .client("gone")) && isFailure(500, .client("gone")))
        #expect(isFailure(200, RequestFault(.stopped, isUploaded: true)))
        #expect(!isFailure(200, RequestFault(.closed, isUploaded: true)))
        #expect(!isFailure(408, RequestFault(.timedOut, isUploaded: false)))
    }

    @Test func `a fault names the side that it is of, and what a client was too slow with`() {
        #expect(RequestFault.upstream("silent").isUpstreams && !RequestFault.own("memory").isUpstreams)
        #expect(!RequestFault(.stopped, isUploaded: true).isUpstreams)
        #expect(RequestFault(.timedOut, isUploaded: true).text == "answer-timeout")
        #expect(RequestFault(.timedOut, isUploaded: false).text == "body-timeout")
    }
}
