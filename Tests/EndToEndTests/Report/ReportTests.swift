internal import Foundation
internal import Primitives
internal import TestSupport
internal import Testing

/// `dictum report`, and the routes that `dictum check` proposes after observing.
@Suite(.timeLimit(.minutes(40))) struct ReportTests {
    private static let versions = (0..<4).map { Feed.bytes(version: $0, items: 60) }

    /// An API with a feed that changes every third request, products that resemble each other, and a page that forbids.
    private static func origin() throws -> Origin {
        let counter = Counter()
        return try Origin { request, connection in
            let path = String(request.target.prefix { $0 != "?" })
            let turn = counter.next(path)
            switch path {
            case "/feed":
                connection.send(
                    wire(
                        "HTTP/1.1 200 OK", "Content-Type: application/json",
                        "Cache-Control: public, max-age=30",
                        body: versions[min(turn / 3, 3)]))
            case "/secret":
                connection.send(
                    wire(
                        "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: no-store",
                        body: versions[0]))
            default:
                connection.send(
                    wire(
                        "HTTP/1.1 200 OK", "Content-Type: application/json",
                        "Cache-Control: public, max-age=3600",
                        body: Array("{\"id\":\"\(path)\",".utf8) + versions[0].dropFirst()))
            }
        }
    }

    private static func ask(_ proxy: ServedProxy) throws {
        for _ in 0..<4 {
            for client in 1...3 {
                for path in ["/feed", "/products/\(client)", "/secret"] {
                    let answer = try proxy.curl(
                        path, "-H", "X-Forwarded-For: 203.0.113.\(client)", "-H", "X-Forwarded-Proto: https",
                        "-H",
                        "Accept-Encoding: gzip, br")
                    #expect(answer.code == 0)
                    #expect(answer.head["Use-As-Dictionary"] == nil)
                }
            }
        }
    }

    private func report(_ folder: TemporaryFolder, _ arguments: String...) throws -> ProcessResult {
        try RunningProcess.run(["report", "--config", "\(folder.path)/dictum.yaml"] + arguments)
    }

    @Test func `a listener that does not answer is said without an option that report does not have`() throws
    {
        let silent = try Origin { _, _ in }
        let result = try RunningProcess.run(["report", "--admin", silent.url])
        // The time for the whole response ends when that for its first byte does, so either may be said.
        #expect(result.status == 1 && result.errors.hasPrefix("dictum: the admin listener at "))
        #expect(!result.errors.contains("--max-time"), "\(result.errors)")
    }

    @Test func `an admin listener behind TLS is asked over TLS`() throws {
        let certificates = try TestCertificates()
        let token = "0123456789abcdef"
        let origin = try Self.origin()
        let proxy = try ServedProxy(
            origin, in: TemporaryFolder(), admin: "{address: \"127.0.0.1:0\", token: \(token)}")
        let front = try ServedProxy(
            origin, in: TemporaryFolder(), listener: certificates.settings("server"),
            upstream: "{urls: [\"\(proxy.adminURL("127.0.0.1").dropLast())\"]}")
        let arguments = ["report", "--json", "--admin", front.url("")]
        let report = try RunningProcess.run(
            arguments,
            environment: ["DICTUM_ADMIN_TOKEN": token, "SSL_CERT_FILE": certificates.file("ca.pem")])
        #expect(report.status == 0 && report.text.hasPrefix("{"), "\(report.errors)")
        let stranger = try RunningProcess.run(arguments, environment: ["DICTUM_ADMIN_TOKEN": token])
        #expect(
            stranger.status == 1 && stranger.errors.contains("the TLS handshake failed"), "\(stranger.errors)"
        )
    }

    @Test func `a listener at all addresses is asked at the one of this machine`() throws {
        let folder = try TemporaryFolder()
        let port = try WireListener(port: 0).port
        let proxy = try ServedProxy(
            Self.origin(), in: folder, admin: "{address: \"0.0.0.0:\(port)\"}")
        let result = try withExtendedLifetime(proxy) { try report(folder) }
        #expect(result.status == 0 && result.text.contains("Store: "), "\(result.errors)")
    }

    @Test func `an observing proxy is asked what it would save, and proposes routes`() throws {
        let folder = try TemporaryFolder()
        let proxy = try ServedProxy(Self.origin(), in: folder, "mode: observe\nobserve: {cpu: 100%}")
        try Self.ask(proxy)
        try waitUntil("all responses are measured") {
            try report(folder, "--json").text.contains(#""responses":36,"#)
        }
        let text = try report(folder)
        #expect(text.status == 0 && text.errors.isEmpty)
        for part in [
            "/* (observe)", "of the requests of returning clients", "bytes per delta instead of",
            "versions back",
            "12 responses could not use or become a dictionary, no-store: remove no-store", "Observing:",
            "Store:",
            "no figure per day yet",
        ] { #expect(text.text.contains(part), "\(part) in \(text.text)") }
        let json = try RunningProcess.run(["report", "--json", "--config", "\(folder.path)/dictum.yaml"])
        let object = try JSONSerialization.jsonObject(with: Data(json.output)) as? [String: Any]
        #expect((object?["routes"] as? [[String: Any]])?.first?["mode"] as? String == "observe")
    }

    @Test func `first responses of observed routes are shown, with a built dictionary and without`() throws {
        let folder = try TemporaryFolder()
        let proxy = try ServedProxy(
            Self.origin(), in: folder,
            """
            observe: {cpu: 100%}
            routes: [{match: "/live/*"}, {match: "/*", mode: observe}]
            """)
        for (turn, folders) in [["products", "live"], ["products"]].enumerated() {
            for path in (1...12).flatMap({ number in folders.map { "/\($0)/\(number)" } }) {
                _ = try proxy.curl(path, "-H", "X-Forwarded-Proto: https")
            }
            // Measured beside the traffic: what came a moment ago may not be known of the client yet.
            try waitUntil("the responses are measured") {
                try report(folder, "--json").text.contains("\"responses\":\(12 * (turn + 1)),")
            }
        }
        var output: [UInt8] = []
        try waitUntil("all responses are measured and stored") {
            let json = try report(folder, "--json")
            output = json.output
            return json.text.contains(#""responses":24,"#) && json.text.contains(#""held_out":6"#)
        }
        let object = try JSONSerialization.jsonObject(with: Data(output)) as? [String: Any]
        let all = object?["first_responses"] as? [[String: Any]] ?? []
        let first = try #require(all.first)
        #expect(all.count == 1 && first["match"] as? String == "/products/:id")
        let (plain, built) = (first["plain_bytes"] as? Int ?? 0, first["built_bytes"] as? Int ?? .max)
        #expect(built < plain / 4, "they differ by their ids only")
        let text = try report(folder)
        #expect(text.errors.isEmpty)
        for part in ["12 first responses, to clients", "First responses, to clients", "/products/:id "] {
            #expect(text.text.contains(part), "\(part) in \(text.text)")
        }
    }

    @Test func `check proposes routes that are valid, with reasons`() throws {
        let folder = try TemporaryFolder()
        let port = try WireListener(port: 0).port
        let proxy = try ServedProxy(
            Self.origin(), in: folder, "mode: observe\nobserve: {cpu: 100%}",
            admin: "{address: \"127.0.0.1:\(port)\"}")
        try Self.ask(proxy)
        let url = "http://127.0.0.1:\(port)"
        try waitUntil("all responses are measured") {
            try RunningProcess.run(["report", "--json", "--admin", url]).text.contains(#""responses":36,"#)
        }
        let text = try RunningProcess.run(["check", "--admin", url])
        #expect(text.status == 0, "\(text.errors)")
        for part in [
            "Suggested routes for api.test", #"- match: "/feed""#, #"- match: "/products/:id""#,
            "covers: pattern",
            "over the version before:", "over the body of another URL:",
            "Browsers keep this dictionary for 30 s",
        ] { #expect(text.text.contains(part), "\(part) in \(text.text)") }
        #expect(!text.text.contains("/secret"))
        let yaml = text.text.split(separator: "\n").drop { !$0.hasPrefix("routes:") }.joined(separator: "\n")
        try folder.write(
            Array("upstream: {urls: [\"http://127.0.0.1:9\"]}\n\(yaml)\n".utf8), to: "proposed.yaml")
        let check = try RunningProcess.run(["check", "--config", "\(folder.path)/proposed.yaml"])
        #expect(check.status == 0, "\(check.errors)")
    }

    @Test func `a live proxy reports what it sent`() throws {
        let folder = try TemporaryFolder()
        let proxy = try ServedProxy(Self.origin(), in: folder, "experiment: {holdout: 50%}")
        for client in 1...3 {
            _ = try proxy.curl("/feed", "-H", "X-Forwarded-For: 203.0.113.\(client)")
        }
        let text = try report(folder)
        #expect(text.text.hasPrefix("/* (live)\n  3 responses, 0.0 % over a dictionary"), "\(text.text)")
        #expect(text.text.contains("Experiment, 50.0 % of the clients without dictionaries"))
    }

    @Test func `a live proxy tells how rough its figures are, and counts no 304 as a failure`() throws {
        let folder = try TemporaryFolder()
        let proxy = try ServedProxy(Self.origin(), in: folder)
        try folder.write(Self.versions[0], to: "dictionary")
        for _ in 1...3 { _ = try proxy.curl("/feed") }
        let delta = try proxy.curl("/feed", "dcz, gzip", over: "dictionary")
        try #require(delta.head["Content-Encoding"] == "dcz")
        let tag = try #require(delta.head["ETag"])
        #expect(try proxy.curl("/feed", "-H", "If-None-Match: \(tag)").head.status == 304)
        try waitUntil("the delta was sampled") {
            try report(folder).text.contains(" (by 1 sample: too few, so this is rough)")
        }
        let text = try report(folder).text
        #expect(
            text.contains("5 responses, 1 of them 304, 25.0 % of the others over a dictionary"), "\(text)")
        #expect(text.contains("1 response not over a dictionary, not-modified: 304: "), "\(text)")
    }

    @Test(arguments: [#"token: "0123456789abcdef""#, "token_file: FOLDER/token"])
    func `the token of the configuration is sent, from its file too`(setting: String) throws {
        let folder = try TemporaryFolder()
        let listener = try Origin(wire("HTTP/1.1 401 Unauthorized", body: []))
        let admin = setting.replacing("FOLDER", with: folder.path)
        try folder.write(Array("0123456789abcdef\n".utf8), to: "token")
        try folder.write(
            Array(
                """
                upstream: {urls: ["http://127.0.0.1:9"]}
                admin: {address: "127.0.0.1:\(listener.port)", \(admin)}
                """.utf8), to: "dictum.yaml")
        let refused = try report(folder)
        #expect(
            refused.status == 1 && refused.errors.contains("responds 401")
                && refused.errors.contains("DICTUM_ADMIN_TOKEN"), "\(refused.errors)")
        // The other --config of check names no proxy.
        for (command, isOffered) in [("report", true), ("check", false)] {
            let errors = try RunningProcess.run([command, "--admin", listener.url]).errors
            #expect(
                errors.contains("DICTUM_ADMIN_TOKEN") && errors.contains("--config") == isOffered, "\(errors)"
            )
        }
        #expect(listener.requests.first?["Authorization"] == "Bearer 0123456789abcdef")
    }

    @Test func `mistakes say what to do`() throws {
        let nobody = try RunningProcess.run(["report", "--admin", "http://127.0.0.1:1"])
        #expect(nobody.status == 1)
        #expect(nobody.errorLines.count == 1 && nobody.errors.contains("cannot connect"))
        #expect(!nobody.errors.contains("--config"))
        let default9901 = try RunningProcess.run(["report"])
        // Another process may have the port.
        if default9901.errors.contains("cannot connect") {
            #expect(default9901.errors.contains("--config FILE") && default9901.errors.contains("--admin"))
        }
        let other = try Origin(wire("HTTP/1.1 404 Not Found", body: Array("<p>My shop</p>".utf8)))
        let proxy = try RunningProcess.run(["report", "--admin", "http://127.0.0.1:\(other.port)"])
        #expect(proxy.status == 1 && !proxy.errors.contains("My shop"), "\(proxy.errors)")
        #expect(proxy.errors.contains("no admin listener of Dictum is at 127.0.0.1:\(other.port)"))
        #expect(try RunningProcess.run(["report", "--admin", "ftp://127.0.0.1:1"]).status == 64)
        #expect(try RunningProcess.run(["report", "--admin", "http://a/", "--config", "x"]).status == 64)
        #expect(try RunningProcess.run(["check"]).status == 64)
        let folder = try TemporaryFolder()
        try folder.write(Array("upstream: {urls: [\"http://a/\"]}\nadmin: off\n".utf8), to: "dictum.yaml")
        let off = try RunningProcess.run(["report", "--config", "\(folder.path)/dictum.yaml"])
        #expect(off.status == 78 && off.errors.contains("has no admin listener"))
    }
}

/// Counts by name, from any thread.
private final class Counter: Sendable {
    private let counts = Guarded<[String: Int]>([:])

    func next(_ name: String) -> Int {
        counts.withLock { counts in
            defer { counts[name, default: 0] += 1 }
            return counts[name] ?? 0
        }
    }
}
