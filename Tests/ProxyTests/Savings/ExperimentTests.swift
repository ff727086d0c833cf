internal import Dictionaries
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let first = Feed.bytes(version: 0, items: 40)
private let second = Feed.bytes(version: 1, items: 40)

/// A share of clients gets no dictionaries, always the same clients, and both sides are compared.
@Suite(.timeLimit(.minutes(40))) struct ExperimentTests {
    private static let half = "experiment: {holdout: 50%}\nroutes: [{match: /*}]"

    /// The side that a client is told.
    private static func arm(_ answer: WireMessage) -> String? {
        answer.values("Server-Timing").joined().firstMatch(of: /dictum-arm;desc="([a-z-]+)"/).map {
            String($0.1)
        }
    }

    @Test func `a client that is held out gets what a route without dictionaries sends, and stays so`() throws
    {
        let proxy = try TestProxy(Origin(json(second)), Self.half)
        // So many that neither side has too few to compare.
        let clients = 1...60
        // Only a client with dictionaries makes the body a version.
        for client in clients { _ = try proxy.fetch("/feed", forwarded(for: client)) }
        var arms: [String: [Int]] = [:]
        for client in clients {
            let answers = try (0..<3).map { _ in
                try proxy.fetch("/feed", over: second, forwarded(for: client), accept: "gzip, dcz")
            }
            let names = Set(answers.compactMap(Self.arm))
            let name = try #require(names.first)
            #expect(names.count == 1, "client \(client)")
            arms[name, default: []].append(client)
            for answer in answers {
                #expect((answer["Use-As-Dictionary"] != nil) == (name == "treated"))
                #expect(answer.coding == (name == "treated" ? "dcz" : "gzip"))
                #expect(answer.members("Vary") == ["accept-encoding", "available-dictionary"])
            }
        }
        #expect(Set(arms.keys) == ["treated", "held-out"])
        for (name, status) in [("treated", 200), ("held-out", 404)] {
            let client = try #require(arms[name]?.first)
            let twin = try proxy.fetch("/feed?dictum-own", forwarded(for: client), "Cookie: session=ann")
            #expect(twin.status == status, "\(name): what it would fetch is of no use to it")
        }
        let heldOut = try #require(arms["held-out"])
        #expect(
            try proxy.metric(#"dictum_requests_total{route="/*",coding="gzip",reason="held-out"}"#) >= 3
                * heldOut.count)
        let counted = try ["treated", "held-out"].map {
            try proxy.metric("dictum_experiment_requests_total{arm=\"\($0)\"}")
        }
        #expect(counted.reduce(0, +) == 4 * clients.count + 1, "with the twin URL of the one that is treated")
        #expect(
            try proxy.metric(#"dictum_experiment_request_duration_seconds_count{arm="held-out"}"#)
                == counted[1])
        #expect(try proxy.metric(#"dictum_experiment_wire_bytes_total{arm="held-out"}"#) > 0)
        let report = try #require(try proxy.report().experiment)
        #expect(report.treated.requests + report.heldOut.requests == 4 * clients.count + 1)
        #expect(report.holdout == 0.5)
        #expect((report.bytes?.high ?? 1) < 1, "deltas are smaller")
    }

    @Test func `one half of a client's number decides about its side, the other about its unit`() {
        let half: UInt64 = 1 << 63
        let places = [0, half - 1, half, .max].map { ExperimentPlace(number: $0, holdout: 0.5) }
        let arms = places.map { $0.arm?.rawValue ?? "none" }
        #expect(arms == ["held-out", "held-out", "treated", "treated"])
        let units = places.map(\.unit)
        #expect(units == [0, 1_023, 0, 1_023])
        #expect(ExperimentPlace.none.arm == nil)
        #expect(ExperimentPlace(number: 0, holdout: 0).arm == .treated)
    }

    @Test func `a reload with the same settings goes on, other settings begin anew`() throws {
        let proxy = try TestProxy(Origin(json(second)), Self.half)
        _ = try proxy.fetch("/feed", forwarded(for: 1))
        try proxy.reload(Self.half + "\nexplain: true")
        _ = try proxy.fetch("/feed", forwarded(for: 1))
        #expect(try Self.responses(in: proxy) == 2)
        try proxy.reload("experiment: {holdout: 10%}")
        _ = try proxy.fetch("/feed", forwarded(for: 1))
        #expect(try Self.responses(in: proxy) == 1)
        try proxy.reload("experiment: off")
        #expect(try proxy.report().experiment == nil)
        #expect(try proxy.fetch("/feed", forwarded(for: 1))["Server-Timing"] == nil)
    }

    @Test func `a request under way during a reload takes no part in the experiment that begins`() throws {
        let (asked, gate) = (Gate(), Gate())
        let origin = try Origin { request, connection in
            asked.open()
            gate.wait()
            connection.send(json(second))
        }
        let proxy = try TestProxy(origin, Self.half)
        let client = try proxy.connect()
        client.send(request("/feed", [forwarded(for: 1)]))
        asked.wait()
        try proxy.reload("experiment: {holdout: 10%}\nroutes: [{match: /*}]")
        gate.open()
        #expect(Self.arm(try client.receive()) != nil)
        try waitUntil("the request is counted") {
            try proxy.metric(#"dictum_responses_total{route="/*",status="2xx"}"#) == 1
        }
        #expect(try Self.responses(in: proxy) == 0)
    }

    @Test func `on a private route the identity decides, not the address`() throws {
        let settings = """
            experiment: {holdout: 50%}
            routes: [{match: /*, dictionary: {scope: private, identity: [authorization]}}]
            """
        let proxy = try TestProxy(Origin(json(second)), settings)
        var arms: Set<String?> = []
        for user in 0..<24 {
            let own = try [1, 2, 3].map {
                Self.arm(try proxy.fetch("/me", "Authorization: Bearer \(user)", forwarded(for: $0)))
            }
            #expect(Set(own).count == 1)
            arms.formUnion(own)
        }
        #expect(arms == ["treated", "held-out"])
    }

    @Test func `clients without an address, and routes without dictionaries, take no part`() throws {
        let proxy = try TestProxy(
            Origin(json(second)),
            "trusted_proxies: [127.0.0.0/8]\nexperiment: {holdout: 50%}\nroutes: [{match: /off, dictionary: off}, {match: /*}]"
        )
        #expect(Self.arm(try proxy.fetch("/off", forwarded(for: 1))) == nil)
        // Trusted peers that forward for a client that they do not name.
        for fields in ["X-Forwarded-For: unknown", "X-Forwarded-Proto: https", "Via: 1.1 front"] {
            #expect(Self.arm(try proxy.fetch("/feed", fields)) == nil, "\(fields)")
        }
        #expect(try Self.responses(in: proxy) == 0)
        #expect(Self.arm(try proxy.fetch("/feed", forwarded(for: 1))) != nil)
        #expect(try Self.responses(in: proxy) == 1)
    }

    private static func responses(in proxy: TestProxy) throws -> Int? {
        try proxy.report().experiment.map { $0.treated.requests + $0.heldOut.requests }
    }

    @Test func `while nobody gets dictionaries, nobody takes part`() throws {
        let proxy = try TestProxy(Origin(json(second)), Self.half + "\nauthorities: [api.test]")
        #expect(Self.arm(try proxy.fetch("/feed", forwarded(for: 1), host: "other.test")) == nil)
        #expect(try proxy.turn("off") == 200)
        #expect(Self.arm(try proxy.fetch("/feed", forwarded(for: 1))) == nil)
        #expect(try Self.responses(in: proxy) == 0)
        #expect(try proxy.turn("on") == 200)
        #expect(Self.arm(try proxy.fetch("/feed", forwarded(for: 1))) != nil)
        #expect(try Self.responses(in: proxy) == 1)
    }

    @Test func `a tunnel is not compared with responses`() throws {
        let origin = try Origin { _, connection in
            connection.send(
                wire("HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: echo"))
            connection.finish()
        }
        let proxy = try TestProxy(origin, Self.half)
        let client = try proxy.connect()
        client.send(request("/feed", [forwarded(for: 1), "Connection: Upgrade", "Upgrade: echo"]))
        #expect(try client.receiveHead().status == 101)
        #expect(client.receiveAll().isEmpty)
        try waitUntil("the tunnel is counted") {
            try proxy.metric(#"dictum_responses_total{route="/*",status="1xx"}"#) == 1
        }
        #expect(try Self.responses(in: proxy) == 0)
    }

    @Test func `a response that breaks off is not compared`() throws {
        let gate = Gate()
        let origin = try Origin { _, connection in
            connection.send(
                wire("HTTP/1.1 200 OK", "Content-Type: image/png", "Content-Length: 100") + [1, 2, 3])
            gate.wait()
            connection.finish()
        }
        let proxy = try TestProxy(origin, Self.half)
        let client = try proxy.connect()
        client.send(request("/feed", [forwarded(for: 1)]))
        #expect(try client.receiveHead().status == 200)
        gate.open()
        #expect(client.receiveAll().count < 100)
        try waitUntil("it is counted") { try proxy.metric("dictum_aborted_responses_total") == 1 }
        #expect(try Self.responses(in: proxy) == 0)
    }

    @Test func `the ratios are those of clients with dictionaries to clients without`() throws {
        let totals = ExperimentTotals(Configuration.Experiment())
        for unit in 0..<20 {
            totals.count(.treated, unit: unit, bytes: 100, microseconds: 3_000)
            totals.count(.heldOut, unit: unit, bytes: 400, microseconds: 2_000)
        }
        let report = SavingsReport.Experiment(totals)
        #expect(report.bytes?.value == 0.25 && report.duration?.value == 1.5)
        #expect(report.treated.requests == 20 && report.treated.units == 20)
        #expect(report.treated.bytesPerRequest == 100 && report.heldOut.bytesPerRequest == 400)
        #expect(report.treated.secondsPerRequest.map { abs($0 - 0.003) < 1e-9 } == true)
    }

    @Test func `a duration on a bound counts below it, and a longer one above`() {
        let totals = ExperimentTotals(Configuration.Experiment())
        let bounds = LoopHistogram.bounds
        for microseconds in bounds.flatMap({ [$0, $0 + 1] }) {
            totals.count(.treated, unit: 0, bytes: 1, microseconds: microseconds)
        }
        let expected = [1] + Array(repeating: 2, count: bounds.count - 1) + [1]
        #expect(totals[.treated].durations == expected)
        #expect(totals[.heldOut].durations.allSatisfy { $0 == 0 })
    }

    @Test func `the arms have the shares that are set, and units are even`() {
        var (heldOut, units) = (0, [Int](repeating: 0, count: ExperimentPlace.unitCount))
        var heldOutUnits: Set<Int> = []
        var random = SplitMix(seed: 7)
        for _ in 0..<100_000 {
            let place = ExperimentPlace(number: random.next(), holdout: 0.05)
            if place.arm == .heldOut {
                heldOut += 1
                heldOutUnits.insert(place.unit)
            }
            units[place.unit] += 1
        }
        #expect(4_700...5_300 ~= heldOut)
        #expect(units.allSatisfy { 50...160 ~= $0 })
        // Of 1,024 units about eight have none of 5,000 clients.
        #expect(heldOutUnits.count > 950, "the unit of a client says nothing of its side")
    }
}

/// Browsers' monitoring is told what Dictum did, without harm to caches.
@Suite(.timeLimit(.minutes(40))) struct ServerTimingTests {
    private static let trusted = "server_timing: {trusted: on}"

    @Test func `trusted peers are told the coding, its reason and the time`() throws {
        let proxy = try TestProxy(Origin([json(first), json(second)]), Self.trusted)
        let full = try proxy.fetch("/feed", "Accept-Encoding: gzip")
        let pattern =
            /dictum;desc="gzip client-new";dur=[0-9]+\.[0-9]{3}, dictum-upstream;dur=[0-9]+\.[0-9]{3}/
        #expect(full["Server-Timing"]?.wholeMatch(of: pattern) != nil, "\(full)")
        let delta = try proxy.fetch("/feed", over: first, accept: "dcz")
        #expect(delta["Server-Timing"]?.hasPrefix("dictum;desc=\"dcz delta\";dur=") == true, "\(delta)")
    }

    @Test func `others are told nothing, unless they are a sample`() throws {
        let untrusted = "trusted_proxies: []\nsecure_transport: assume\n"
        let none = try TestProxy(Origin(json(first)), untrusted + Self.trusted)
        #expect(try none.fetch("/feed")["Server-Timing"] == nil)
        let all = try TestProxy(Origin(json(first)), untrusted + "server_timing: {sample: 100%}")
        #expect(try all.fetch("/feed")["Server-Timing"] != nil)
        let some = try TestProxy(Origin(json(first)), untrusted + "server_timing: {sample: 20%}")
        let told = try (0..<200).count { _ in try some.fetch("/feed")["Server-Timing"] != nil }
        // Beyond five deviations of 5.7.
        #expect(11...69 ~= told, "\(told)")
    }

    @Test func `the upstream's own metrics stay, in front`() throws {
        let proxy = try TestProxy(Origin(json(first, "Server-Timing: db;dur=53")), Self.trusted)
        let values = try proxy.fetch("/feed").values("Server-Timing")
        #expect(values.count == 2)
        #expect(values.first == "db;dur=53")
    }

    @Test func `a 304 has no metrics of Dictum, so that it changes no stored response`() throws {
        let origin = try Origin { request, connection in
            let isHeld = request["If-None-Match"] != nil
            connection.send(
                isHeld
                    ? wire("HTTP/1.1 304 Not Modified", #"ETag: "v1""#, "Server-Timing: db;dur=1")
                    : json(first, #"ETag: "v1""#))
        }
        let proxy = try TestProxy(origin, Self.trusted + "\nexperiment: {holdout: 50%}")
        let answer = try proxy.fetch("/feed", #"If-None-Match: "v1""#)
        #expect(answer.status == 304)
        #expect(answer.values("Server-Timing") == ["db;dur=1"])
    }

    @Test func `by default there is no such field`() throws {
        let proxy = try TestProxy(Origin(json(first)))
        #expect(try proxy.fetch("/feed")["Server-Timing"] == nil)
    }
}
