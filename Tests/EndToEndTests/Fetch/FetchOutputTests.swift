internal import Dictionaries
internal import Foundation
internal import TestSupport
internal import Testing

/// The output of `dictum fetch`.
@Suite struct FetchOutputTests {
    @Test(.timeLimit(.minutes(40)))
    func `the JSON report has these keys and nothing else is on standard output`() throws {
        let origin = try Origin.closing { _ in
            Wire.ok("Content-Encoding: gzip", body: coded(feed(1), .gzip))
        }
        defer { origin.stop() }
        let result = try Fetching().run("\(origin.url)/feed?x=1#part", "--json")
        #expect(result.status == 0 && result.text.split(separator: "\n").count == 1)
        let report = try #require(
            try JSONSerialization.jsonObject(with: Data(result.output)) as? [String: Any])
        #expect(
            report.keys.sorted() == [
                "advertised", "body_bytes", "coding", "dictionary_id", "milliseconds", "protocol",
                "revalidated",
                "saved_percent",
                "sha256",
                "status", "stored", "url", "wire_bytes",
            ])
        #expect(report["url"] as? String == "\(origin.url)/feed?x=1")
        #expect(report["status"] as? Int == 200)
        #expect(report["protocol"] as? String == "HTTP/1.1")
        #expect(report["coding"] as? String == "gzip")
        #expect(report["body_bytes"] as? Int == feed(1).count)
        #expect(report["wire_bytes"] as? Int == coded(feed(1), .gzip).count)
        #expect(report["sha256"] as? String == Body(feed(1)).digest.hex)
        #expect(report["advertised"] is NSNull && report["dictionary_id"] is NSNull)
        #expect(report["stored"] as? Bool == false)
        let saved = try #require(report["saved_percent"] as? Double)
        #expect(saved > 50 && saved < 100)
        #expect(origin.heads.first?.hasPrefix("GET /feed?x=1 HTTP/1.1\r\n") == true)
    }

    @Test(.timeLimit(.minutes(40)))
    func `the body goes to standard output and the report to standard error`() throws {
        let origin = try Origin.closing { _ in Wire.answer("404 Not Found", body: Array("nothing here".utf8))
        }
        defer { origin.stop() }
        let result = try Fetching().run("\(origin.url)/feed")
        #expect(result.status == 0 && result.text == "nothing here")
        #expect(
            result.errors == "dictum: 404, identity: 12 bytes on the wire for a body of 12, 0.00 % saved\n")
    }

    @Test(
        .timeLimit(.minutes(40)),
        arguments: [
            (
                #"Use-As-Dictionary: match="/feed""#, "Cache-Control: no-cache",
                "no-cache; send max-age, give the route a ttl"
            ),
            (
                #"Use-As-Dictionary: match="/feed""#, "Cache-Control: max-age=0",
                "stale when it came; send max-age"
            ),
            (
                #"Use-As-Dictionary: match="/feed""#, "Cache-Control: max-age=60\r\nAge: 90",
                "stale when it came; send max-age"
            ),
            (#"Use-As-Dictionary: match="/feed""#, "X: 1", "no lifetime; send max-age, give the route a ttl"),
            ("X: 2", "Cache-Control: max-age=600", "the server offers no dictionary"),
            (#"Use-As-Dictionary: match="/feed""#, "Cache-Control: no-store", "no-store or Vary: *"),
            (#"Use-As-Dictionary: match="/feed""#, "Cache-Control: max-age=600", nil),
        ])
    func `a 200 that is no dictionary says why`(offer: String, life: String, reason: String?) throws {
        let origin = try Origin.closing { _ in Wire.ok(offer, life, "ETag: \"1\"", body: feed(1)) }
        defer { origin.stop() }
        let result = try Fetching().run("\(origin.url)/feed", "-o", "/dev/null")
        let part = reason.map { ", not kept: \($0)" } ?? ", kept as a dictionary"
        #expect(result.status == 0 && result.errors.contains(part), "\(result.errors)")
    }

    @Test(.timeLimit(.minutes(40)))
    func `https at a port for http is told as such`() throws {
        let origin = try Origin(wire("HTTP/1.1 200 OK", body: feed(1)))
        let proxy = try ServedProxy(origin, in: TemporaryFolder())
        let result = try Fetching().run("https://127.0.0.1:\(proxy.port)/feed")
        #expect(
            result.status == 1 && result.errors.contains("does not speak TLS at this port"),
            "\(result.errors)")
    }

    @Test(.timeLimit(.minutes(40)))
    func `a redirect is reported as it is`() throws {
        let origin = try Origin.closing { _ in Wire.answer("302 Found", ["Location: /other"]) }
        defer { origin.stop() }
        #expect(try Fetching().fetch("\(origin.url)/feed").report.status == 302)
        #expect(origin.heads.count == 1)
    }

    @Test(.timeLimit(.minutes(40)))
    func `verbose prints the heads as curl does`() throws {
        let origin = try Origin.closing { _ in
            Array("HTTP/1.1 103 Early Hints\r\nX: 1\r\n\r\n".utf8) + Wire.ok("X: 2", body: feed(1))
        }
        defer { origin.stop() }
        let result = try Fetching().run("\(origin.url)/feed", "-v", "-o", "/dev/null")
        let lines = result.errorLines
        #expect(lines.first == "> GET /feed HTTP/1.1")
        #expect(lines.contains("> Host: 127.0.0.1:\(origin.port)"))
        #expect(lines.contains("> ") && lines.contains("< "))
        #expect(lines.contains("< HTTP/1.1 103 Early Hints") && lines.contains("< HTTP/1.1 200 OK"))
        #expect(lines.filter { $0.hasPrefix("< X: ") } == ["< X: 1", "< X: 2"])
    }

    @Test(.timeLimit(.minutes(40)))
    func `fields, cookies and a failing status are as curl has them`() throws {
        let origin = try Origin.closing { _ in Wire.answer("404 Not Found", body: Array("nothing here".utf8))
        }
        defer { origin.stop() }
        let result = try Fetching().run(
            "\(origin.url)/feed", "-H", "Authorization: Bearer a", "-H", "x-two:  b ", "-H", "x-two: c", "-H",
            "User-Agent: mine", "--cookie", "sid=1; theme=dark", "--fail")
        #expect(result.status == 1 && result.output.isEmpty)
        #expect(result.errors.hasPrefix("dictum: 404, identity: 12 bytes"))
        let request = try #require(origin.heads.first)
        for line in [
            "Authorization: Bearer a", "x-two: b", "x-two: c", "User-Agent: mine",
            "Cookie: sid=1; theme=dark",
        ] {
            #expect(request.contains("\r\n\(line)\r\n"), "\(request)")
        }
        #expect(!request.contains("dictum-fetch"))
    }

    @Test(.timeLimit(.minutes(40)))
    func `the id that a dictionary came with is sent back, and the report names it`() throws {
        let origin = try Origin.closing { _ in
            Wire.ok(
                "Use-As-Dictionary: match=\"/feed\", id=\"k-1\"", "Cache-Control: max-age=600", body: feed(1))
        }
        defer { origin.stop() }
        let fetching = try Fetching()
        #expect(try fetching.run("\(origin.url)/feed", "--json").text.contains(#""dictionary_id":null"#))
        let second = try fetching.run("\(origin.url)/feed", "--json")
        #expect(second.text.contains(#""dictionary_id":"k-1""#))
        #expect(second.errors.contains("Dictionary-ID k-1 sent back"))
        #expect(origin.heads.last?.contains("\r\nDictionary-ID: \"k-1\"\r\n") == true)
    }
}
