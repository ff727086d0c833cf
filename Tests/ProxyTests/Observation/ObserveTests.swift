internal import Dictionaries
internal import Foundation
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let versions = (0..<6).map { Feed.bytes(version: $0, items: 60) }

/// An observed route learns from its traffic, and sends nothing that a route without dictionaries would not send.
@Suite(.timeLimit(.minutes(40))) struct ObserveTests {
    // MARK: Not one byte differs

    /// Many kinds of responses by path; a counter makes some of them change.
    private static func origin() throws -> Origin {
        let turns = Guarded<[String: Int]>([:])
        return try Origin { request, connection in
            let path = String(request.target.prefix { $0 != "?" })
            let turn = turns.withLock { turns in
                turns[path, default: -1] += 1
                return turns[path] ?? 0
            }
            connection.send(answer(to: request, path, turn))
        }
    }

    private static func answer(to request: WireMessage, _ path: String, _ turn: Int) -> [UInt8] {
        let body = versions[turn % versions.count]
        switch path {
        case "/feed":
            return json(body, "Cache-Control: public, max-age=60", "ETag: \"v\(turn % versions.count)\"")
        case "/plain": return wire("HTTP/1.1 200 OK", "Content-Type: application/json", body: body)
        case "/private": return json(body, "Cache-Control: private, max-age=60")
        case "/cookie": return json(body, "Cache-Control: max-age=60", "Set-Cookie: sid=\(turn)")
        case "/no-store": return json(body, "Cache-Control: no-store")
        case "/page": return html(body, "Cache-Control: public, max-age=5")
        case "/image": return wire("HTTP/1.1 200 OK", "Content-Type: image/png", body: body)
        case "/small": return json(Array("{}".utf8), "Cache-Control: public, max-age=60")
        case "/missing": return wire("HTTP/1.1 404 Not Found", "Content-Type: application/json", body: body)
        case "/empty": return wire("HTTP/1.1 204 No Content")
        case "/same":
            guard request["If-None-Match"] == nil else {
                return wire(
                    "HTTP/1.1 304 Not Modified", #"ETag: "same""#, "Cache-Control: public, max-age=60")
            }
            return json(versions[0], "Cache-Control: public, max-age=60", #"ETag: "same""#)
        case "/own":
            return json(
                body, "Cache-Control: public, max-age=60", #"Use-As-Dictionary: match="/own", id="x""#)
        case "/vary": return json(body, "Cache-Control: public, max-age=60", "Vary: Accept-Language")
        case "/coded":
            let coded = (try? Codec.encode(body.span, .gzip)) ?? []
            return json(coded, "Cache-Control: public, max-age=60", "Content-Encoding: gzip")
        case "/chunked":
            let head = wire(
                "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: public, max-age=60",
                "Trailer: X-Sum", "Transfer-Encoding: chunked")
            return head + chunk(Array(body.prefix(5000))) + chunk(Array(body.dropFirst(5000)))
                + Array("0\r\nX-Sum: 1\r\n\r\n".utf8)
        case "/events":
            return wire(
                "HTTP/1.1 200 OK", "Content-Type: text/event-stream", body: Array("data: 1\n\n".utf8))
        default: return json(body, "Cache-Control: public, max-age=60", "Link: </x>; rel=preload")
        }
    }

    private static let paths = [
        "/feed", "/plain", "/private", "/cookie", "/no-store", "/page", "/image", "/small", "/missing",
        "/empty",
        "/same", "/own", "/vary", "/coded", "/chunked", "/events", "/other?a=1", "/.dictum/a/b", "/a//b",
    ]

    /// The requests of one round, each in wire bytes.
    private static func requests(round: Int) -> [[UInt8]] {
        let held = versions[round % versions.count]
        let fields = [
            ["Accept-Encoding: identity"],
            ["Accept-Encoding: gzip, br, zstd"],
            ["Accept-Encoding: gzip, br, zstd, dcb, dcz", available(held), #"Dictionary-ID: "x""#],
            ["Accept-Encoding: dcz", available(held), #"If-None-Match: "same", W/"v1""#],
            [
                "Accept-Encoding: br", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Dest: empty",
                "Referer: http://api.test/page",
            ],
            ["Accept-Encoding: gzip", "Authorization: Bearer 1", "Cookie: sid=1"],
            ["Range: bytes=0-99"],
        ]
        return paths.flatMap { path in
            ["GET", "HEAD", "POST"].flatMap { method in
                fields.map { fields in
                    request(
                        path, fields + [forwarded(for: 1 + round), "Connection: close"], method: method,
                        body: method == "POST" ? [1, 2] : nil)
                }
            }
        }
    }

    /// Returns a message without what differs from one process and moment to the next: names, dates and durations.
    private static func withoutNames(_ message: String) -> String {
        message.replacing(/dictum-[0-9a-f]+/, with: "dictum").replacing(/X-Request-ID: [0-9a-f]+/, with: "")
            .replacing(/Date: [^\r]+/, with: "Date").replacing(/micros=[0-9]+/, with: "micros")
    }

    @Test(arguments: [
        ("mode: observe\nroutes: [{match: /*}]", "routes: [{match: /*, dictionary: off}]"),
        (
            """
            routes:
              - match: /*
                mode: observe
                announce: [/feed]
                dictionary: {cache_control: "public, max-age=99", revalidate: true, ttl: 7d, delivery: link, covers: pattern}
            """, "routes: [{match: /*, dictionary: off}]"
        ),
        (
            "mode: observe\nroutes: [{match: /*, dictionary: {scope: private, identity: [authorization, cookie:sid]}}]\nexplain: true",
            "routes: [{match: /*, dictionary: off}]\nexplain: true"
        ),
    ])
    func `an observed route sends the bytes of one without dictionaries, to both sides`(
        observed: String, off: String
    ) throws {
        let one = try TestProxy(Self.origin(), observed)
        let other = try TestProxy(Self.origin(), off)
        for round in 0..<3 {
            for wire in Self.requests(round: round) {
                let answers = try [one, other].map { proxy in
                    let client = try proxy.connect()
                    client.send(wire)
                    return Self.withoutNames(String(decoding: client.receiveAll(), as: UTF8.self))
                }
                let isSame = answers[0] == answers[1]
                #expect(
                    isSame,
                    "\(String(decoding: wire.prefix(200), as: UTF8.self)): \(answers[0].prefix(600)) instead of \(answers[1].prefix(600))"
                )
                guard isSame else { return }
            }
        }
        let heads = [one, other].map { $0.origin.heads.map(Self.withoutNames) }
        #expect(heads[0] == heads[1])
        // The comparison means nothing unless responses were observed.
        try waitUntil("responses were observed") {
            try (one.report().routes.first?.observed?.responses ?? 0) > 100
        }
    }

    @Test func `a live route beside an observed one goes on, and its pages announce nothing of the other`()
        throws
    {
        let proxy = try TestProxy(
            Self.origin(),
            """
            routes:
              - {match: /page, announce: [/feed]}
              - {match: /feed, mode: observe}
              - {match: /*}
            """)
        for _ in 0..<3 { try proxy.prove("/feed", "Accept-Encoding: gzip") }
        for _ in 0..<3 {
            let page = try proxy.fetch("/page", forwarded(for: 9), "Sec-Fetch-Dest: document")
            #expect(page.values("Link").isEmpty)
        }
        let live = try proxy.fetch("/other")
        #expect(live["Use-As-Dictionary"] != nil)
        #expect(try proxy.fetch("/feed")["Use-As-Dictionary"] == nil)
        #expect(try proxy.report().routes.map(\.mode) == ["live", "observe", "live"])
        let shown = try proxy.read("/routes").list("routes").map { $0.text("dictionaries") }
        #expect(shown.prefix(3) == ["on", "observe", "on"])
    }

    // MARK: What is promised is what a live route sends

    @Test func `the promised bytes and holders are those that a live route then has`() throws {
        let answers = versions.map { json($0, "Cache-Control: public, max-age=600") }
        let clients = 1...4
        let live = try TestProxy(
            Origin(answers.flatMap { Array(repeating: $0, count: clients.count) }), Self.pattern)
        var (deltaBytes, deltas) = (0, 0)
        var held: [Int: [UInt8]] = [:]
        for body in versions {
            for client in clients {
                let answer =
                    if let dictionary = held[client] {
                        try live.fetch("/feed", over: dictionary, forwarded(for: client), accept: "gzip, dcz")
                    } else { try live.fetch("/feed", forwarded(for: client), "Accept-Encoding: gzip") }
                if answer.coding == "dcz" {
                    (deltaBytes, deltas) = (deltaBytes + answer.body.count, deltas + 1)
                }
                if answer["Use-As-Dictionary"] != nil { held[client] = body }
                // The strongest pass of one delta is over before the next request.
                try live.untilDeltas { _ in true }
            }
        }
        let observed = try TestProxy(
            Origin(answers.flatMap { Array(repeating: $0, count: clients.count) }),
            "mode: observe\nobserve: {cpu: 100%}\n" + Self.pattern)
        for number in 0..<versions.count {
            for client in clients {
                try observed.observe(
                    "/feed", forwarded(for: client), "Accept-Encoding: gzip",
                    number: number * clients.count + client)
            }
        }
        let promised = try #require(try observed.report().routes[0].observed)
        #expect(promised.returns == clients.count * (versions.count - 1))
        #expect(promised.deltas == deltas)
        #expect(promised.measured.count == deltas)
        let difference = Double(promised.measured.deltaBytes) / Double(deltaBytes)
        #expect(0.95...1.05 ~= difference, "\(promised.measured.deltaBytes) for \(deltaBytes)")
        let gzip = try versions.dropFirst().map { try Codec.encode($0.span, .gzip).count }.reduce(0, +)
        #expect(promised.measured.plainBytes == gzip * clients.count)
        // Clients keep a dictionary for a while, so that some deltas are over older versions.
        #expect(promised.ages.map(\.sizes.count).reduce(0, +) == promised.measured.count)
        #expect((promised.ages.first { $0.versionsBackMax == 1 }?.sizes.count ?? 0) >= deltas / 2)
        #expect(promised.lifeSeconds == 600)
    }

    private static let pattern = "routes: [{match: /feed}]"

    @Test(arguments: [[], [#"ETag: "v1""#]])
    func `a response that becomes a 304 today saves nothing, and renews what its client holds`(
        fields: [String]
    ) throws {
        let shared = "Cache-Control: public, max-age=600"
        let proxy = try TestProxy(
            Origin(json(versions[0], fields.first ?? "X-A: b", shared)), "mode: observe")
        let tag = try #require(try proxy.fetch("/feed", forwarded(for: 1))["ETag"])
        try waitUntil("the first was measured") { try proxy.report().routes[0].observed?.responses == 1 }
        let answer = try proxy.fetch("/feed", forwarded(for: 1), "If-None-Match: \(tag)")
        #expect(answer.status == 304)
        try proxy.observe("/feed", forwarded(for: 1), number: 2)
        let observed = try #require(try proxy.report().routes[0].observed)
        #expect((observed.responses, observed.returns, observed.deltas) == (2, 1, 1))
        #expect(observed.measured.count == 1 && observed.bodyBytes == 2 * versions[0].count)
        #expect((observed.versions, observed.revisits, observed.unchanged) == (1, 2, 2))
        // By its tag the version is found that the 304 has renewed.
        let version = proxy.server.context.store.reader().recent(
            of: ChainKey(authority: "api.test", match: "/feed")
        ).first
        let isFound = version?.etag == EntityTag(tag)?.opaque
        #expect(isFound)
    }

    @Test func `the first body of a URL is no change`() throws {
        let proxy = try TestProxy(Self.origin(), "mode: observe")
        for (turn, path) in ["/feed", "/a", "/b", "/feed", "/feed"].enumerated() {
            try proxy.observe(path, number: turn + 1)
        }
        let observed = try #require(try proxy.report().routes[0].observed)
        #expect((observed.versions, observed.revisits, observed.unchanged) == (5, 2, 0))
    }

    @Test func `a client that stays away longer than the response is fresh holds nothing`() throws {
        let proxy = try TestProxy(
            Origin(json(versions[0], "Cache-Control: public, max-age=0")), "mode: observe")
        for number in 1...3 { try proxy.observe("/feed", forwarded(for: 1), number: number) }
        let observed = try #require(try proxy.report().routes[0].observed)
        #expect(observed.returns == 2)
        #expect(observed.deltas == 0)
        #expect(observed.lacks == ["unkept": 2])
        #expect(observed.unkept == ["expired": 3])
        #expect(observed.fields["cache-control"] == "public, max-age=0")
    }

    @Test(arguments: [
        "Cookie: AWSALB=TURN; sid=USER; _ga=GA1.1.TURN", "Authorization: Bearer USER", "User-Agent: USER",
    ])
    func `a client is known by its credentials, while cookies of balancers and analytics change`(
        credentials: String
    ) throws {
        let proxy = try TestProxy(
            Origin(json(versions[0], "Cache-Control: public, max-age=600")), "mode: observe")
        for (turn, user) in ["ann", "ann", "ann", "bob"].enumerated() {
            let field = credentials.replacing("TURN", with: "\(turn)").replacing("USER", with: user)
            try proxy.observe("/feed", forwarded(for: 1), field, number: turn + 1)
        }
        let observed = try #require(try proxy.report().routes[0].observed)
        #expect(observed.returns == 2 && observed.firsts == 2)
        #expect(observed.credentials == (credentials.hasPrefix("User-Agent") ? 0 : 4))
    }

    @Test func `obstacles are counted by their reasons`() throws {
        let proxy = try TestProxy(Self.origin(), "mode: observe\nauthorities: [api.test]")
        for path in ["/no-store", "/image", "/small", "/own", "/missing"] { _ = try proxy.fetch(path) }
        _ = try proxy.fetch("/feed", host: "other.test")
        try waitUntil("all were counted") { try proxy.report().routes[0].observed?.responses == 6 }
        #expect(
            try proxy.report().routes[0].observed?.obstacles == [
                "no-store": 1, "ineligible-type": 1, "ineligible-size": 1, "offered-upstream": 1,
                "ineligible-status": 1, "authority-off": 1,
            ])
    }

    // MARK: Nothing personal leaves

    @Test func `personal paths, cookies and tags are not reported`() throws {
        let origin = try Origin { request, connection in
            connection.send(
                json(
                    versions[0], "Cache-Control: private, max-age=60",
                    "Set-Cookie: sid=secret1; Path=/secret2",
                    #"ETag: "secret3""#))
        }
        let proxy = try TestProxy(origin, "mode: observe\nroutes: [{match: /users/*}]")
        for number in 1...3 {
            try proxy.observe(
                "/users/secret4", "Cookie: sid=secret5", "Authorization: Bearer secret6", number: number)
        }
        let text = try proxy.admin("GET /report HTTP/1.1", "Host: localhost").text
        #expect(!text.contains("secret"), "\(text)")
        #expect(try proxy.report().routes[0].groups.map(\.match) == ["/users/*"])
        let observed = try proxy.report().routes[0].observed
        #expect(observed?.deltas == 2)
        #expect(observed?.versions == 1, "a body that comes again is the same version")
        #expect(observed?.fields["set-cookie"] == "sid=" && observed?.fields["etag"] == "\"\"")
    }

    @Test func `a personal response that is too long to be measured leaves no path either`() throws {
        let head = wire(
            "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: private, max-age=60",
            "Transfer-Encoding: chunked")
        let proxy = try TestProxy(
            Origin(head + chunk(versions[0]) + Array("0\r\n\r\n".utf8)),
            "mode: observe\nroutes: [{match: /users/*, dictionary: {max_body: 1KiB}}]")
        _ = try proxy.fetch("/users/secret", "Authorization: Bearer secret")
        try waitUntil("the response was skipped") {
            try proxy.report().routes[0].observed?.skipped == 1
        }
        #expect(try !proxy.admin("GET /report HTTP/1.1", "Host: localhost").text.contains("secret"))
    }

    // MARK: The budget

    @Test func `a reload changes the share of the processor`() throws {
        let proxy = try TestProxy(Self.origin(), "mode: observe\nobserve: {cpu: 5%}")
        try proxy.reload("mode: observe\nobserve: {cpu: 7%}")
        #expect(try proxy.report().observing?.cpuAllowed == 0.07)
    }

    @Test func `the memory of observed bodies comes back, whatever becomes of them`() throws {
        let proxy = try TestProxy(Self.origin(), "mode: observe\nobserve: {cpu: 100%}")
        for path in Self.paths { _ = try proxy.fetch(path) }
        let memory = proxy.server.context.observer.memory
        try waitUntil("all memory is given back") { memory.takenBytes == 0 }
        #expect(try proxy.report().routes[0].observed?.versions ?? 0 > 0)
    }

    @Test func `the deltas of all clients are estimated by the share that was observed at the time`() throws {
        let proxy = try TestProxy(
            Origin(json(versions[0], "Cache-Control: public, max-age=600")),
            "mode: observe\nobserve: {cpu: 100%}")
        let budget = proxy.server.context.observer.budget
        // More than the whole time leaves out half of the clients.
        budget.withLock { $0.charge(30_000_000_000, now: SystemClock.monotonicNanoseconds + 11_000_000_000) }
        let begin = SystemClock.monotonicNanoseconds
        for _ in 0..<2 {
            for client in 1...40 { _ = try proxy.fetch("/feed", forwarded(for: client)) }
        }
        try waitUntil("some returned") { try (proxy.report().routes[0].observed?.deltas ?? 0) > 0 }
        let report = try proxy.report()
        let observed = try #require(report.routes[0].observed)
        #expect(report.observing?.clientShare == 0.5)
        #expect(observed.deltasOfAll == 2 * Double(observed.deltas))
        let most = Double(SystemClock.monotonicNanoseconds - begin) / 1e9
        #expect(0 < observed.seconds && observed.seconds < most, "the time since the first response")
    }
}

extension TestProxy {
    /// Fetches the first route's response of a number, and waits until it was measured.
    ///
    /// A visit is noted after its response, so the next one could come before it.
    func observe(_ path: String, _ fields: String..., number: Int) throws {
        let client = try connect()
        client.send(request(path, fields))
        _ = try client.receive()
        try waitUntil("response \(number) was measured") {
            try report().routes[0].observed?.responses == number
        }
    }

    /// The report as a program reads it.
    func report() throws -> SavingsReport {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let answer = try admin("GET /report HTTP/1.1", "Host: localhost")
        return try decoder.decode(SavingsReport.self, from: Data(answer.body))
    }
}
