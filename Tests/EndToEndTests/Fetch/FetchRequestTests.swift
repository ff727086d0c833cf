internal import Dictionaries
internal import Foundation
internal import TestSupport
internal import Testing

/// The options of `dictum fetch` that say what is sent: -X, -d, -L and -k, as curl has them.
@Suite(.timeLimit(.minutes(40))) struct FetchRequestTests {
    /// An origin whose dictionary is for everything.
    private static func offering(_ status: String = "200 OK") throws -> Origin {
        try Origin { _, connection in
            connection.send(
                Wire.answer(
                    status, [#"Use-As-Dictionary: match="/*", id="a""#, "Cache-Control: max-age=60"],
                    body: feed(1)))
            connection.finish()
        }
    }

    /// An origin that redirects `/from` to a location.
    private static func redirecting(_ status: String, to location: String) throws -> Origin {
        try Origin.closing { head in
            head.split(separator: " ")[1] == "/from"
                ? Wire.answer(status, ["Location: \(location)"]) : Wire.ok(body: feed(2))
        }
    }

    // MARK: -X, -d

    @Test func `data is sent as a form by POST, pieces joined and files without line breaks and NULs`() throws
    {
        let origin = try Self.offering()
        defer { origin.stop() }
        let fetching = try Fetching()
        try fetching.folder.write(Array("b=2\r\n&c\0=3\n".utf8), to: "data")
        _ = try fetching.fetch("\(origin.url)/", "-d", "a=1", "-d", "@\(fetching.folder.path)/data")
        let request = try #require(origin.requests.last)
        #expect(request.startLine == "POST / HTTP/1.1")
        #expect(request.body == Array("a=1&b=2&c=3".utf8) && request["Content-Length"] == "11")
        #expect(request["Content-Type"] == "application/x-www-form-urlencoded")
        _ = try fetching.fetch(
            "\(origin.url)/", "-X", "PUT", "-d", "{}", "-H", "Content-Type: application/json")
        let put = try #require(origin.requests.last)
        #expect(
            put.method == "PUT" && put.body == Array("{}".utf8) && put["Content-Type"] == "application/json")
    }

    @Test func `data may come from standard input`() throws {
        let origin = try Self.offering()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let command = "printf 'a=1\\n' | \"$0\" fetch --cache cache -d @- \(origin.url)/ > body"
        let result = try RunningProcess.run(
            ["-c", command, RunningProcess.dictum], of: "/bin/sh", in: folder.path)
        #expect(result.status == 0, "\(result.errors)")
        #expect(origin.requests.last?.body == Array("a=1".utf8))
    }

    @Test(arguments: [["-X", "POST"], ["-X", "DELETE"], ["-d", "x"], ["-X", "GET", "-d", "x"]])
    func `only a GET without content names and keeps dictionaries`(arguments: [String]) throws {
        let origin = try Self.offering()
        defer { origin.stop() }
        let fetching = try Fetching()
        #expect(try !fetching.fetch("\(origin.url)/", arguments: arguments).report.stored)
        #expect(try fetching.fetch("\(origin.url)/").report.stored)
        _ = try fetching.fetch("\(origin.url)/", arguments: arguments)
        #expect(origin.heads.allSatisfy { field("Available-Dictionary", of: $0) == nil })
    }

    @Test func `the response to a POST that does not decode is an error, and not asked for again`() throws {
        let origin = try Origin.closing { head in
            head.hasPrefix("GET")
                ? Wire.ok(#"Use-As-Dictionary: match="/*""#, "Cache-Control: max-age=60", body: feed(1))
                : Wire.ok("Content-Encoding: dcz", body: coded(feed(2), .dcz, over: feed(3)))
        }
        defer { origin.stop() }
        let fetching = try Fetching()
        #expect(try fetching.fetch("\(origin.url)/").report.stored)
        let result = try fetching.run("\(origin.url)/", "-d", "x")
        #expect(result.status == 1 && result.output.isEmpty && result.errorLines.count == 1)
        #expect(result.errors.contains("coded in dcz, but no dictionary was offered"), "\(result.errors)")
        #expect(origin.requests.map(\.method) == ["GET", "POST"] && fetching.kept.count == 2)
    }

    @Test func `a part is asked for without dictionaries`() throws {
        let origin = try Self.offering()
        defer { origin.stop() }
        let fetching = try Fetching()
        #expect(try fetching.fetch("\(origin.url)/").report.stored)
        _ = try fetching.fetch("\(origin.url)/", "-H", "Range: bytes=0-9")
        #expect(field("Available-Dictionary", of: origin.heads.last) == nil)
    }

    @Test(arguments: ["gzip", "dcz", "compress"])
    func `a part comes as the server has sent it, since it does not decode by itself`(coding: String) throws {
        let part = Array(coded(feed(1), .gzip)[9..<40])
        let fields = ["Content-Range: bytes 9-39/900", "Content-Encoding: \(coding)"]
        let origin = try Origin.closing { _ in
            Wire.answer("206 Partial Content", fields, body: part)
        }
        defer { origin.stop() }
        let fetched = try Fetching().fetch("\(origin.url)/", "-H", "Range: bytes=9-39")
        let isAsSent = fetched.body == part
        #expect(isAsSent && fetched.report.status == 206 && fetched.report.body_bytes == part.count)
    }

    @Test func `a response to HEAD has no body, whatever its fields say`() throws {
        let origin = try Origin.closing { _ in
            Array(
                "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nContent-Encoding: zstd\r\nConnection: close\r\n\r\n"
                    .utf8)
        }
        defer { origin.stop() }
        let head = try Fetching().fetch("\(origin.url)/", "-X", "HEAD")
        #expect(head.body.isEmpty && head.report.status == 200)
        #expect(origin.requests.last?.method == "HEAD")
    }

    @Test func `what cannot be sent is said in one line`() throws {
        let fetching = try Fetching()
        try fetching.folder.write([], to: "large")
        let large = try #require(FileHandle(forWritingAtPath: fetching.folder.file("large")))
        // All are NULs, which would not be sent.
        try large.truncate(atOffset: 64 << 20 + 1)
        for (arguments, words) in [
            (["-d", "@\(fetching.folder.file("large"))"], "/large is larger than 64.0 MiB"),
            (["-X", "a b"], "-X a b: expected a method, such as PUT"),
            (["-X", "CONNECT"], "-X CONNECT: expected a method, such as PUT"),
            (["-d", "@/nowhere"], "-d: cannot read /nowhere"),
            (["-d", "x", "--http2-prior-knowledge"], "give --http1.1 in place of HTTP/2"),
        ] as [([String], String)] {
            let result = try RunningProcess.run(
                ["fetch", "--cache", "\(fetching.folder.path)/cache", "http://127.0.0.1:1/"] + arguments)
            #expect(result.status == 64 && result.errors.contains(words), "\(result.errors)")
            #expect(result.errorLines.count == 1 && result.output.isEmpty)
        }
        let beyond = try RunningProcess.run(["fetch", "http://127.0.0.1:1/ä"])
        #expect(beyond.errors.hasSuffix("; write characters beyond ASCII as %XX\n"), "\(beyond.errors)")
    }

    // MARK: -L

    @Test func `a redirect is followed if that is wanted`() throws {
        let origin = try Self.redirecting("302 Found", to: "/to")
        defer { origin.stop() }
        let fetching = try Fetching()
        #expect(try fetching.fetch("\(origin.url)/from").report.status == 302)
        #expect(try fetching.fetch("\(origin.url)/from", "-L").body == feed(2))
        #expect(origin.requests.map(\.target) == ["/from", "/from", "/to"])
    }

    @Test func `a redirect is followed although it names the coding of a body that it does not have`() throws
    {
        let origin = try Origin.closing { head in
            head.split(separator: " ")[1] == "/from"
                ? Wire.answer("302 Found", ["Location: /to", "Content-Encoding: gzip"])
                : Wire.ok(body: feed(2))
        }
        defer { origin.stop() }
        #expect(try Fetching().fetch("\(origin.url)/from", "-L").body == feed(2))
    }

    @Test func `another origin gets no credentials, and no dictionary of theirs`() throws {
        let other = try Self.offering()
        let origin = try Self.redirecting("307 Temporary Redirect", to: "\(other.url)/to")
        defer {
            origin.stop()
            other.stop()
        }
        let fetching = try Fetching()
        let secrets = [
            "-H", "Authorization: Bearer x", "--cookie", "sid=x", "-H", "X-API-Key: x", "-H",
            "Accept: text/x",
        ]
        _ = try fetching.fetch("\(other.url)/to", arguments: secrets)
        _ = try fetching.fetch("\(origin.url)/from", arguments: ["-L"] + secrets)
        let (first, last) = (try #require(origin.heads.first), try #require(other.heads.last))
        #expect(field("Authorization", of: first) == "Bearer x" && field("Cookie", of: first) == "sid=x")
        #expect(field("X-API-Key", of: first) == "x")
        for name in ["Authorization", "Cookie", "X-API-Key", "Available-Dictionary"] {
            #expect(field(name, of: last) == nil, "\(name)")
        }
        #expect(field("Accept", of: last) == "text/x")
    }

    @Test(arguments: [
        ("301 Moved Permanently", "GET", ""), ("303 See Other", "GET", ""),
        ("307 Temporary Redirect", "POST", "a=1"), ("308 Permanent Redirect", "POST", "a=1"),
    ])
    func `a redirected POST becomes a GET without content, or stays what it is`(
        status: String, method: String, body: String
    ) throws {
        let origin = try Self.redirecting(status, to: "/to")
        defer { origin.stop() }
        _ = try Fetching().fetch(
            "\(origin.url)/from", "-L", "-d", "a=1", "-H", "Content-Type: text/plain")
        let request = try #require(origin.requests.last)
        #expect(request.method == method && request.body == Array(body.utf8) && request.target == "/to")
        #expect(request["Content-Type"] == (body.isEmpty ? nil : "text/plain"))
    }

    @Test func `a redirect that leads nowhere is an error`() throws {
        let nowhere = try Self.redirecting("302 Found", to: "ftp://example.com/")
        defer { nowhere.stop() }
        let refused = try Fetching().run("\(nowhere.url)/from", "-L")
        #expect(refused.status == 1 && refused.errors.contains("redirects to ftp://example.com/"))
    }

    // MARK: -k

    @Test
    func `a certificate that nobody knows is accepted if that is wanted, and its dictionaries stay apart`()
        throws
    {
        let certificates = try TestCertificates()
        let proxy = try ServedProxy(
            Self.offering(), in: TemporaryFolder(), "explain: true", listener: certificates.settings())
        let (fetching, url) = (try Fetching(), "https://localhost:\(proxy.port)/feed")
        #expect(try fetching.run(url).status == 1)
        #expect(try fetching.fetch(url, "-k").report.stored)
        #expect(try fetching.fetch(url, "-k").report.advertised != nil)
        #expect(try fetching.fetch(url, "--ca", certificates.file("ca.pem")).report.advertised == nil)
    }
}
