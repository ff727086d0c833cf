internal import Dictionaries
internal import Foundation
internal import Primitives
internal import TestSupport
internal import Testing

/// `dictum doctor` as a process, in front of Dictum and of faulty servers and proxies.
@Suite(.timeLimit(.minutes(40))) struct DoctorTests {
    private static let fresh = "public, max-age=600"

    /// Returns an upstream whose response never changes.
    private func origin(_ cacheControl: String = fresh) throws -> Origin {
        try Origin(
            wire(
                "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: \(cacheControl)",
                body: feed(1)))
    }

    private func served(_ settings: String = "explain: true", _ cacheControl: String = fresh) throws
        -> ServedProxy
    {
        try ServedProxy(origin(cacheControl), in: TemporaryFolder(), settings)
    }

    // MARK: No faults

    @Test func `before Dictum dictionaries will work`() throws {
        let proxy = try served()
        let report = try Consultation.of(proxy.url("/feed"))
        #expect(report.names == ["loopback", "offered", "used"])
        #expect(report.works && report.status == 0)
        // The doctor also offers the dictionary first, at a URL with a query that the match covers.
        #expect(proxy.origin.requests.contains { $0.target.hasPrefix("/feed?dictum-doctor=") })
        let text = try RunningProcess.run(["doctor", proxy.url("/feed")])
        #expect(text.status == 0 && text.errors.isEmpty)
        #expect(text.text.hasSuffix("\(proxy.url("/feed")): dictionaries will work\n"))
        #expect(text.text.split(separator: "\n").count == 4, "one line a finding: \(text.text)")
    }

    @Test func `a Link is good on a document, whose dictionary is used then, and of no use to fetch()`()
        throws
    {
        let link = #"routes: [{match: "/*", dictionary: {delivery: link}}]"#
        let page = try Origin(
            wire(
                "HTTP/1.1 200 OK", "Content-Type: text/html", "Cache-Control: public, no-cache", body: feed(1)
            ))
        let document = try ServedProxy(page, in: TemporaryFolder(), link)
        try document.prove("/feed")
        let report = try Consultation.of(document.url("/feed"))
        #expect(report.names == ["loopback", "linked", "used"])
        #expect(report.works)
        #expect(page.requests.contains { $0["Sec-Fetch-Dest"] == "document" }, "asked for by navigation")
        let api = try served(link, "public, no-cache")
        try api.prove("/feed")
        try Consultation.of(api.url("/feed")).expect("link-not-followed")
    }

    @Test func `the response's own fields come before any guess`() throws {
        let proxy = try served("", "no-store")
        try Consultation.of(proxy.url("/feed")).expect("not-offerable")
    }

    @Test func `a private route is examined with the credentials that it asks for`() throws {
        let route = #"routes: [{match: "/*", dictionary: {scope: private, identity: authorization}}]"#
        let proxy = try served(route, "private, max-age=600")
        let url = proxy.url("/feed")
        #expect(try Consultation.of(url, "-H", "Authorization: Bearer a").works)
        #expect(proxy.origin.requests.allSatisfy { $0["Authorization"] == "Bearer a" })
        #expect(try !Consultation.of(url).works)
    }

    @Test func `a page of the same site needs CORS, and one of another site gets nothing`() throws {
        let proxy = try served()
        let other = "http://127.0.0.1:\(proxy.port == 1024 ? 1025 : 1024)"
        try Consultation.of(proxy.url("/feed"), "--from", other).expect("cors-missing")
        try Consultation.of(proxy.url("/feed"), "--from", "http://localhost:\(proxy.port)").expect(
            "cross-site")
        let open = try Origin(
            wire(
                "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: \(Self.fresh)",
                "Access-Control-Allow-Origin: *", body: feed(1)))
        let opened = try ServedProxy(open, in: TemporaryFolder())
        let report = try Consultation.of(opened.url("/feed"), "--from", other)
        #expect(report.works && report.names.contains("same-site"), "\(report.names)")
        #expect(
            open.requests.first?["Sec-Fetch-Site"] == "same-site" && open.requests.first?["Origin"] == other)
    }

    @Test func `with --fail a warning is exit code 1`() throws {
        let proxy = try served("", "public, max-age=30")
        let url = proxy.url("/feed")
        #expect(try Consultation.of(url).status == 0)
        let strict = try Consultation.of(url, "--fail")
        #expect(strict.works && strict.status == 1 && strict.names.contains("short-life"))
    }

    @Test func `by https the authority of --ca is trusted, and without it the certificate is the finding`()
        throws
    {
        let certificates = try TestCertificates()
        let proxy = try ServedProxy(
            origin(), in: TemporaryFolder(), listener: certificates.settings())
        let report = try Consultation.of(proxy.url("/feed"), "--ca", certificates.file("ca.pem"))
        #expect(report.names == ["loopback", "http2", "offered", "used"])
        #expect(report.works)
        let stranger = try Consultation.of(proxy.url("/feed"))
        #expect(stranger.names == ["untrusted"])
        #expect(!stranger.works && stranger.status == 1)
    }

    @Test func `away from this machine it matters whether there is TLS, and whose authority`() throws {
        // On Linux this address leads to the machine itself; for browsers it is not localhost.
        let anywhere = { (proxy: ServedProxy) in "\(proxy.scheme)://0.0.0.0:\(proxy.port)/feed" }
        let plain = try served()
        try Consultation.of(anywhere(plain)).expect("insecure-transport")
        let certificates = try TestCertificates()
        try certificates.issue("any", names: "IP:0.0.0.0")
        let proxy = try ServedProxy(origin(), in: TemporaryFolder(), listener: certificates.settings("any"))
        let authority = certificates.file("ca.pem")
        try Consultation.of(anywhere(proxy), "--ca", authority).expect("private-authority")
        try Consultation.of(anywhere(proxy)).expect("untrusted")
        let known = try RunningProcess.run(
            ["doctor", anywhere(proxy)], environment: ["SSL_CERT_FILE": authority])
        #expect(known.status == 0, "\(known.text)")
        #expect(known.text.hasPrefix("good: https"))
    }

    // MARK: Proxies in between

    @Test func `Available-Dictionary that is removed on the way`() throws {
        let proxy = try served()
        let between = try InBetween(before: proxy.port, request: { $0.remove("Available-Dictionary") })
        try Consultation.of(between.url("/feed")).expect("available-dictionary-stripped")
        let silent = try served("")
        let other = try InBetween(before: silent.port, request: { $0.remove("Available-Dictionary") })
        try Consultation.of(other.url("/feed")).expect("not-used")
    }

    @Test func `Accept-Encoding that is rewritten on the way`() throws {
        let proxy = try served()
        let between = try InBetween(before: proxy.port, request: { $0.set("Accept-Encoding", "gzip, br") })
        try Consultation.of(between.url("/feed")).expect("codings-stripped")
    }

    @Test func `Use-As-Dictionary that is removed on the way`() throws {
        let proxy = try served()
        let between = try InBetween(before: proxy.port, answer: { $0.remove("Use-As-Dictionary") })
        try Consultation.of(between.url("/feed")).expect("offer-stripped")
    }

    @Test(arguments: ["", "Accept-Encoding"])
    func `Vary that is removed or replaced on the way`(value: String) throws {
        let proxy = try served()
        let between = try InBetween(
            before: proxy.port,
            answer: { if value.isEmpty { $0.remove("Vary") } else { $0.set("Vary", value) } })
        let report = try Consultation.of(between.url("/feed"))
        report.expect("vary-missing")
        let text = try #require(report.findings.first { $0.finding == "vary-missing" }?.text)
        #expect(text.contains("Available-Dictionary"))
        #expect(text.contains("Accept-Encoding") == value.isEmpty)
    }

    @Test func `TLS that ended before somebody who does not say so`() throws {
        let proxy = try served()
        let between = try InBetween(
            before: proxy.port, request: { $0.fields.append(("X-Forwarded-For", "203.0.113.9")) })
        try Consultation.of(between.url("/feed")).expect("forwarded-as-insecure")
    }

    @Test(arguments: [true, false])
    func `a cache that heeds the target alone mixes variants, in both orders`(saysAge: Bool) throws {
        let proxy = try served()
        let cache = try InBetween(cachingBefore: proxy.port, saysAge: saysAge)
        let report = try Consultation.of(cache.url("/feed"))
        report.expect("cache-ignores-vary")
        report.expect("mixed")
    }

    @Test func `a wrong hash, and bodies that do not decode`() throws {
        let proxy = try served()
        let hash = try InBetween(before: proxy.port, answer: { if $0.isDelta { $0.body[20] ^= 1 } })
        try Consultation.of(hash.url("/feed")).expect("wrong-hash")
        let cut = try InBetween(before: proxy.port, answer: { if $0.isDelta { $0.body.removeLast(5) } })
        try Consultation.of(cut.url("/feed")).expect("undecodable")
        let stacked = try InBetween(
            before: proxy.port, answer: { if $0.isDelta { $0.set("Content-Encoding", "dcz, gzip") } })
        try Consultation.of(stacked.url("/feed")).expect("undecodable")
    }

    // MARK: Faults of the server

    @Test func `an answer that no browser keeps`() throws {
        let proxy = try served(#"routes: [{match: "/*", dictionary: {delivery: in_band}}]"#, "no-cache")
        try Consultation.of(proxy.url("/feed")).expect("unkept")
    }

    @Test(arguments: ["private, no-cache", "no-cache", "private, max-age=30"])
    func `for users who are logged in the twin URL is tried, and the line for the page is printed`(
        control: String
    )
        throws
    {
        let proxy = try served("", control)
        let url = proxy.url("/feed?x=1")
        let cookie = try Consultation.of(url, "--cookie", "session=ann")
        #expect(
            cookie.works && cookie.names.contains("twin-works") && !cookie.names.contains("unkept"),
            "\(cookie.names)")
        let line = #"<script src="/.dictum/own.js" data-paths="/feed?x=1" async></script>"#
        #expect(cookie.findings.contains { $0.level == "warning" && $0.text.hasSuffix(line) })
        let bearer = try Consultation.of(url, "-H", "Authorization: Bearer ann")
        #expect(bearer.findings.contains { $0.text.contains(#"fetch("/feed?x=1&dictum-own", {headers: {"#) })
    }

    @Test func `a route without dictionaries`() throws {
        let proxy = try served(#"routes: [{match: "/*", dictionary: off}]"#)
        try Consultation.of(proxy.url("/feed")).expect("not-offered")
    }

    @Test func `a match that does not match, and one that is none`() throws {
        let proxy = try served()
        let other = try InBetween(
            before: proxy.port,
            answer: { $0.set("Use-As-Dictionary", #"match="/other/*""#) })
        try Consultation.of(other.url("/feed")).expect("match-elsewhere")
        let wrong = try InBetween(
            before: proxy.port,
            answer: { $0.set("Use-As-Dictionary", #"match="https://other.test/*""#) })
        try Consultation.of(wrong.url("/feed")).expect("match-invalid")
    }

    @Test func `an answer that changes with every request`() throws {
        let number = Guarded(0)
        let origin = try Origin { _, connection in
            let version = number.withLock { number in
                number += 1
                return number
            }
            connection.send(
                wire(
                    "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: max-age=600",
                    body: feed(version)))
        }
        let proxy = try ServedProxy(origin, in: TemporaryFolder())
        let report = try Consultation.of(proxy.url("/feed"))
        #expect(report.names.contains("changes-each-time"))
        #expect(report.works, "\(report.names)")
    }

    @Test func `bodies that never reach three clients alike cannot be announced`() throws {
        let number = Guarded(0)
        let origin = try Origin { _, connection in
            let version = number.withLock { number in
                number += 1
                return number
            }
            connection.send(
                wire(
                    "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: public, max-age=0",
                    body: feed(version)))
        }
        let changing = try ServedProxy(origin, in: TemporaryFolder(), #"routes: [{match: "/*"}]"#)
        let report = try Consultation.of(changing.url("/feed"))
        report.expect("unkept")
        #expect(report.names.contains("not-announceable"), "\(report.names)")
        // A body that is the same for all clients can be announced.
        let steady = try served(#"routes: [{match: "/*"}]"#, "public, max-age=0")
        #expect(try !Consultation.of(steady.url("/feed")).names.contains("not-announceable"))
    }

    @Test func `an answer that is none, and nobody there`() throws {
        let origin = try Origin { request, connection in
            connection.send(
                request.target == "/old"
                    ? wire("HTTP/1.1 308 Permanent Redirect", "Location: /new", body: [])
                    : wire("HTTP/1.1 404 Not Found", body: []))
        }
        let url = "http://127.0.0.1:\(origin.port)"
        let moved = try Consultation.of("\(url)/old")
        moved.expect("status")
        #expect(moved.findings.last?.text.contains("/new") == true)
        try Consultation.of("\(url)/none").expect("status")
        // The port of an origin that has ended may be that of another test by now.
        try Consultation.of("http://127.0.0.1:1/none").expect("no-answer")
    }

    // MARK: Requests with content

    private static let content = #"{"operationName":"Feed"}"#

    /// A proxy before an upstream that takes requests with content only.
    private func operations(_ settings: String, _ fields: String = "Cache-Control: max-age=600") throws
        -> ServedProxy
    {
        let origin = try Origin { request, connection in
            guard request.method != "GET" else {
                return _ = connection.send(wire("HTTP/1.1 405 Method Not Allowed", "Allow: POST", body: []))
            }
            connection.send(wire("HTTP/1.1 200 OK", "Content-Type: application/json", fields, body: feed(1)))
        }
        let route = "routes: [{match: /graphql, dictionary: {\(settings)}}]"
        return try ServedProxy(origin, in: TemporaryFolder(), route)
    }

    @Test(arguments: ["POST", "QUERY"])
    func `a path for requests with content is examined by them`(method: String) throws {
        let proxy = try operations("methods: [QUERY, POST], key: [op, operationName]")
        let report = try Consultation.of(proxy.url("/graphql"), "-X", method, "-d", Self.content)
        #expect(report.names == ["loopback", "shared-match", "offered", "used"])
        #expect(report.works && report.status == 0)
        #expect(proxy.origin.requests.count == 6)
        #expect(proxy.origin.requests.allSatisfy { $0.method == method && $0.text == Self.content })
        let named = try Consultation.of(proxy.url("/graphql?op=Feed"), "-X", method, "-d", Self.content)
        #expect(named.names == ["loopback", "offered", "used"])
        try Consultation.of(proxy.url("/graphql")).expect("wrong-method")
    }

    @Test(arguments: [
        ("methods: [GET, QUERY]", "Cache-Control: max-age=600", "method-not-listed"),
        ("methods: [POST]", "Cache-Control: private", "no-lifetime"),
        ("methods: [POST]", "Last-Modified: Fri, 01 Jan 2021 00:00:00 GMT", "no-lifetime"),
        ("methods: [POST]", "Cache-Control: max-age=600\r\nContent-Location: /x", "content-location"),
        ("methods: [POST]", "Cache-Control: no-store, max-age=600", "not-offerable"),
    ])
    func `what keeps a response to POST from being a dictionary is told`(
        settings: String, fields: String, finding: String
    ) throws {
        let proxy = try operations(settings, fields)
        try Consultation.of(proxy.url("/graphql"), "-d", Self.content).expect(finding)
    }

    @Test func `Last-Modified gives no lifetime to the response to POST that another server offers`() throws {
        let origin = try Origin(
            wire(
                "HTTP/1.1 200 OK", #"Use-As-Dictionary: match="/q""#,
                "Last-Modified: Fri, 01 Jan 2021 00:00:00 GMT", body: feed(1)))
        defer { origin.stop() }
        try Consultation.of("\(origin.url)/q", "-d", Self.content).expect("unkept")
    }

    // MARK: Wrong usage

    @Test(arguments: [
        ["https://"], ["http://127.0.0.1:1/", "--max-time", "0"], [], ["https://a/", "--ca", "none.pem"],
        ["http://127.0.0.1:1/", "-H", "no colon"], ["http://127.0.0.1:1/", "-H", "Connection: close"],
        ["http://127.0.0.1:1/", "-H", "A: b\r\nC: d"], ["http://127.0.0.1:1/", "--page", "http://a/"],
        ["http://127.0.0.1:1/", "--browser", "--fetches", "1"], ["http://127.0.0.1:1/", "-X", "PUT"],
        ["http://127.0.0.1:1/", "--browser", "--fetches", "60"],
        ["http://127.0.0.1:1/", "--password-file", "x"], ["redis://127.0.0.1:1", "--browser"],
        ["redis://127.0.0.1:1", "-H", "A: b"], ["unix:/none", "--max-time", "1"],
        ["http://127.0.0.1:1/", "--browser", "-d", "x"], ["https://127.0.0.1:1/", "--http2", "-d", "x"],
    ])
    func `wrong usage is exit code 64`(arguments: [String]) throws {
        let result = try RunningProcess.run(["doctor"] + arguments)
        #expect(result.status == 64)
        #expect(result.output.isEmpty && !result.errors.isEmpty)
    }
}

extension WireMessage {
    /// True if the body is coded over a dictionary.
    fileprivate var isDelta: Bool { self["Content-Encoding"]?.hasPrefix("dc") == true }
}
