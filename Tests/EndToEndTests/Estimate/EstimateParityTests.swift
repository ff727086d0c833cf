internal import Foundation
internal import Storage
internal import TestSupport
internal import Testing

@testable internal import dictum

/// The estimate decides nothing by itself: it judges responses as the observer and a live route do, and its clients are those
/// of the simulated day.
@Suite(.timeLimit(.minutes(40))) struct EstimateParityTests {
    /// A kind of response, on a route of its own.
    private struct Kind: Sendable {
        let fields: [String: String]
        /// True if the request carries a login.
        var hasLogin = false
        var items = 40
    }

    private static let kinds = [
        Kind(fields: ["Cache-Control": "public, max-age=600"]),
        Kind(fields: ["Cache-Control": "max-age=600"]),
        Kind(fields: ["Cache-Control": "max-age=600"], hasLogin: true),
        Kind(fields: ["Cache-Control": "private, max-age=600"], hasLogin: true),
        Kind(fields: ["Cache-Control": "public, max-age=600"], hasLogin: true),
        Kind(fields: ["Cache-Control": "public, max-age=600", "Vary": "Accept-Language"]),
        Kind(fields: ["Cache-Control": "public, max-age=600", "Vary": "*"]),
        Kind(fields: ["Cache-Control": "max-age=600", "Set-Cookie": "sid=1"]),
        Kind(fields: ["Cache-Control": "no-store"]),
        Kind(fields: ["Cache-Control": "public, max-age=0"]),
        Kind(fields: ["Cache-Control": "public, no-cache"]),
        Kind(fields: ["Cache-Control": "public, max-age=600", "Pragma": "no-cache"]),
        Kind(fields: ["ETag": "1"]),
        Kind(fields: ["Cache-Control": "public, max-age=600", "Content-Type": "image/png"]),
        Kind(fields: ["Cache-Control": "public, max-age=600", "Content-Type": "text/event-stream"]),
        Kind(fields: ["Cache-Control": "public, max-age=600"], items: 0),
    ].map { kind in
        var fields = kind.fields
        fields["Content-Type"] = fields["Content-Type"] ?? "application/json"
        return Kind(fields: fields, hasLogin: kind.hasLogin, items: kind.items)
    }

    private static func body(_ kind: Kind) -> [UInt8] { Feed.bytes(version: 0, items: kind.items) }

    /// The judgement of one kind.
    private struct Judgement: Equatable {
        let obstacle: String?
        /// True if it is a dictionary for its client only.
        let isPersonal: Bool
        /// The seconds for which browsers keep it as a dictionary; nil if it is none.
        let lifeSeconds: Int?
    }

    private static func proxy(_ folder: TemporaryFolder, _ first: String) throws -> ServedProxy {
        let origin = try Origin { request, connection in
            guard let number = request.target.firstMatch(of: /^\/k([0-9]+)\//).flatMap({ Int($0.output.1) })
            else { return }
            let fields = kinds[number].fields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
            connection.send(
                wire((["HTTP/1.1 200 OK"] + fields).joined(separator: "\r\n"), body: body(kinds[number])))
        }
        let routes = kinds.indices.map { "  - {match: /k\($0)/*}" }
        return try ServedProxy(origin, in: folder, ([first + "routes:"] + routes).joined(separator: "\n"))
    }

    private static func ask(_ proxy: ServedProxy, _ number: Int) throws -> CurlAnswer {
        let login = kinds[number].hasLogin ? "Authorization: Bearer 1" : "X-None: 1"
        return try proxy.curl(
            "/k\(number)/feed", "-H", login, "-H", "X-Forwarded-For: 203.0.113.1", "-H",
            "X-Forwarded-Proto: https", "-H", "Accept-Encoding: gzip")
    }

    private static func observed(_ folder: TemporaryFolder) throws -> [Judgement] {
        let proxy = try proxy(folder, "mode: observe\nobserve: {cpu: 100%}\n")
        for number in kinds.indices { _ = try ask(proxy, number) }
        var routes: [[String: Any]] = []
        try waitUntil("all responses are measured") {
            let result = try RunningProcess.run(
                ["report", "--json", "--config", "\(folder.path)/dictum.yaml"])
            let report = try JSONSerialization.jsonObject(with: Data(result.output)) as? [String: Any]
            routes = report?["routes"] as? [[String: Any]] ?? []
            return routes.prefix(kinds.count).allSatisfy { route in
                (route["observed"] as? [String: Any])?["responses"] as? Int == 1
            }
        }
        return kinds.indices.map { number in
            let observed = routes[number]["observed"] as? [String: Any] ?? [:]
            let obstacle = (observed["obstacles"] as? [String: Int])?.keys.first
            // Only the path of a personal response is hidden.
            let match = (routes[number]["groups"] as? [[String: Any]])?.first?["match"] as? String
            return Judgement(
                obstacle: obstacle, isPersonal: obstacle == nil && match == "/k\(number)/*",
                lifeSeconds: observed["life_seconds"] as? Int)
        }
    }

    private static func estimated(_ folder: TemporaryFolder) throws -> [Judgement] {
        let entries = kinds.enumerated().map { number, kind in
            ArchiveEntry(
                url: "https://api.test/k\(number)/feed", second: number,
                requestFields: kind.hasLogin ? ["Authorization": "Bearer 1"] : [:], fields: kind.fields,
                body: body(kind))
        }
        try ArchiveEntry.write(entries, to: folder)
        return try Estimating.of("\(folder.path)/session.har").resources.map { resource in
            Judgement(
                obstacle: resource.obstacle,
                isPersonal: resource.obstacle == nil && resource.personal != nil,
                lifeSeconds: resource.obstacle == nil ? resource.browser?.keepsSeconds : nil)
        }
    }

    @Test
    func
        `a response has one obstacle, one audience and one life, estimated and observed, and live the same offer`()
        throws
    {
        let folder = try TemporaryFolder()
        let (estimated, observed) = (try Self.estimated(folder), try Self.observed(folder))
        for number in Self.kinds.indices {
            #expect(estimated[number] == observed[number], "\(Self.kinds[number])")
        }
        let live = try Self.proxy(TemporaryFolder(), "")
        for (number, judgement) in estimated.enumerated() {
            let isOffered = try Self.ask(live, number).head["Use-As-Dictionary"] != nil
            #expect(isOffered == (judgement.obstacle == nil), "\(Self.kinds[number])")
        }
        #expect(Set(estimated.compactMap(\.obstacle)).count > 4 && estimated.contains { $0.isPersonal })
    }

    private static func sizes() throws -> MeasuredSizes {
        let cost = DeltaCost(bytes: 100, firstBytes: 120, firstCpuMicroseconds: 1, indexedCpuMicroseconds: 1)
        let deltas = DeltaCosts(versionsBack: 1, pairs: 1, plainBytes: 2000, dcz: cost, dcb: cost)
        return try #require(
            MeasuredSizes([deltas], plainBytes: 2000, sameBytes: 60, secondsPerVersion: 60))
    }

    @Test func `the clients of the estimate are those of the simulated day`() throws {
        let sizes = try Self.sizes()
        // So many make whole clients of each kind.
        let plan = ClientPlan(clients: 200, mix: .apps, seconds: 7200)
        let outcome = try #require(
            ClientOutcome(sizes, plan: plan, periodSeconds: 60, lifeSeconds: 600, isPersonal: false))
        var scenario = Scenario(title: "parity", periodSeconds: 60, clients: 200, lifeSeconds: 600)
        (scenario.kinds, scenario.seconds, scenario.countsSharing) = (plan.mix.groups, 7200, true)
        var day = try SimulatedDay(scenario, sizes, .renewal, scale: 1)
        let simulated = try day.run()
        #expect(
            outcome.holderShare == (Double(simulated.found) / Double(simulated.returns)).rounded(places: 4))
        #expect(outcome.deltaBytes == simulated.deltaBytes / simulated.found)
        for (perDay, bytes) in [
            (outcome.bytesPerDay, simulated.sentBytes), (outcome.plainBytesPerDay, simulated.plainBytes),
        ] {
            #expect(abs(Double(perDay) / Double(bytes * 12) - 1) < 0.02)
        }
    }

    @Test(arguments: [1, 10, 100, 370, 10_000])
    func `each client costs the same per day, however many there are`(clients: Int) throws {
        let plan = ClientPlan(clients: clients, mix: .apps, seconds: 7200)
        let outcome = try #require(
            ClientOutcome(
                try Self.sizes(), plan: plan, periodSeconds: 60, lifeSeconds: 600, isPersonal: false))
        let requests = plan.mix.requestsPerSecond(of: 1) * 86_400
        #expect(abs(Double(outcome.plainBytesPerDay) / Double(clients) / 2000 / requests - 1) < 0.01)
    }
}
