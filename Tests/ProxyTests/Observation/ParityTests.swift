internal import Dictionaries
internal import Foundation
internal import Primitives
internal import TestSupport
internal import Testing

@testable import Proxy

/// A live route and an observed one decide alike, whatever the traffic: generated requests and responses go to both, and to
/// each client that the live proxy meets it gives what the observer says it would get.
@Suite(.timeLimit(.minutes(40))) struct ParityTests {
    /// A kind of response, on a route of its own.
    struct Kind: Sendable {
        let route: String
        let fields: [String]
        /// True if each client has bodies of its own.
        var isPersonal = false
        /// True if requests carry a login.
        var hasLogin = false
        var urls = 1
        /// The seconds for which a browser keeps the response; 0 for none.
        var lifeSeconds = 600
    }

    private static let kinds = [
        Kind(route: "", fields: ["Cache-Control: public, max-age=600"]),
        Kind(route: "", fields: ["Cache-Control: max-age=600"]),
        Kind(route: "", fields: ["Cache-Control: max-age=600"], isPersonal: true, hasLogin: true),
        Kind(route: "", fields: ["Cache-Control: private, max-age=600"], isPersonal: true, hasLogin: true),
        Kind(route: "", fields: ["Cache-Control: public, max-age=600"], hasLogin: true),
        Kind(route: "", fields: ["Cache-Control: public, max-age=600", "Vary: Accept-Language"]),
        Kind(route: "", fields: ["Cache-Control: public, max-age=600", "Vary: *"], lifeSeconds: 0),
        Kind(route: "", fields: ["Cache-Control: max-age=600", "Set-Cookie: sid=1"]),
        Kind(route: "", fields: ["Cache-Control: no-store"], lifeSeconds: 0),
        Kind(route: "", fields: ["Cache-Control: public, max-age=0"], lifeSeconds: 0),
        Kind(
            route: "dictionary: {personal: off}", fields: ["Cache-Control: private, max-age=600"],
            isPersonal: true, hasLogin: true),
        Kind(
            route: "dictionary: {scope: private, identity: [authorization]}",
            fields: ["Cache-Control: max-age=600"],
            isPersonal: true, hasLogin: true),
        Kind(route: #"dictionary: {cache_control: "public, max-age=600"}"#, fields: ["X-None: 1"]),
        Kind(route: "dictionary: {covers: pattern}", fields: ["Cache-Control: public, max-age=600"], urls: 3),
    ]

    private static func settings(_ first: String) -> String {
        let routes = kinds.enumerated().map { number, kind in
            "  - {match: /k\(number)/*\(kind.route.isEmpty ? "" : ", \(kind.route)")}"
        }
        return ([first + "routes:"] + routes).joined(separator: "\n")
    }

    /// One request: everything that both proxies get.
    struct Step: Sendable {
        let kind, client, url: Int
        let body: [UInt8]
        let fields: [String]

        var path: String { "/k\(kind)/\(url)" }
    }

    /// Generates traffic in which bodies change now and then.
    private static func steps(seed: UInt64, count: Int) -> [Step] {
        var random = SplitMix(seed: seed)
        var versions: [String: Int] = [:]
        return (0..<count).map { _ in
            let number = Int.random(in: 0..<kinds.count, using: &random)
            let (kind, client) = (kinds[number], Int.random(in: 1...3, using: &random))
            let url = Int.random(in: 0..<kind.urls, using: &random)
            var name = "\(number) \(url)"
            if kind.isPersonal { name += " \(client)" }
            if Int.random(in: 0..<3, using: &random) == 0 { versions[name, default: 0] += 1 }
            var fields = [forwarded(for: client)]
            if kind.hasLogin { fields.append("Authorization: Bearer \(client)") }
            fields.append("Accept-Language: \(["de", "fr"].randomElement(using: &random) ?? "de")")
            let seed = 40 * number + 10 * url + (kind.isPersonal ? 1000 * client : 0)
            return Step(
                kind: number, client: client, url: url,
                body: Feed.bytes(version: seed + versions[name, default: 0], items: 40), fields: fields)
        }
    }

    private static func proxy(_ steps: [Step], _ first: String) throws -> TestProxy {
        let next = Guarded(0)
        return try TestProxy(
            Origin { _, connection in
                let step = next.withLock { next in
                    next += 1
                    return steps[next - 1]
                }
                let kind = kinds[step.kind]
                connection.send(
                    wire(
                        (["HTTP/1.1 200 OK", "Content-Type: application/json"] + kind.fields)
                            .joined(separator: "\r\n"), body: step.body))
            }, settings(first))
    }

    /// The results of the traffic.
    struct Outcome {
        /// The deltas that clients get, by kind.
        var deltas: [Int]
        /// True for each kind whose responses are never offered.
        var isRefused: [Bool]
        /// The versions that the store has, which depend on the seconds that pass between requests.
        var versions = 0
    }

    private static func live(_ steps: [Step]) throws -> Outcome {
        struct Holding: Hashable { let client, kind, url: Int }
        let proxy = try proxy(steps, "")
        var held: [Holding: [UInt8]] = [:]
        var outcome = Outcome(deltas: kinds.map { _ in 0 }, isRefused: kinds.map { _ in true })
        for step in steps {
            let kind = kinds[step.kind]
            let isShared = kind.route.contains("pattern")
            let holding = Holding(client: step.client, kind: step.kind, url: isShared ? 0 : step.url)
            let fields = step.fields.joined(separator: "\r\n")
            let answer =
                if let dictionary = held[holding] {
                    try proxy.fetch(step.path, over: dictionary, fields, accept: "gzip, dcb, dcz")
                } else { try proxy.fetch(step.path, fields, "Accept-Encoding: gzip, dcb, dcz") }
            #expect(try answer.carriesDecoded(step.body, over: held[holding]))
            if answer.contentCoding.usesDictionary { outcome.deltas[step.kind] += 1 }
            if answer["Use-As-Dictionary"] != nil { outcome.isRefused[step.kind] = false }
            if answer["Use-As-Dictionary"] != nil, kind.lifeSeconds > 0 { held[holding] = step.body }
            // The strongest pass of a delta is over before the next request.
            try proxy.untilDeltas { _ in true }
        }
        outcome.versions = try proxy.metric("dictum_store_versions")
        return outcome
    }

    /// Returns what the observer promises.
    private static func observed(_ steps: [Step]) throws -> Outcome {
        let proxy = try proxy(steps, "mode: observe\nobserve: {cpu: 100%}\n")
        for (number, step) in steps.enumerated() {
            _ = try proxy.fetch(step.path, step.fields.joined(separator: "\r\n"), "Accept-Encoding: gzip")
            try waitUntil("response \(number) was measured") {
                try proxy.report().routes.reduce(0) { $0 + ($1.observed?.responses ?? 0) } == number + 1
            }
        }
        let seen = try proxy.report().routes.prefix(kinds.count).map { $0.observed ?? .init() }
        var outcome = Outcome(
            deltas: seen.map(\.deltas),
            isRefused: seen.map { $0.obstacles.values.reduce(0, +) == $0.responses })
        outcome.versions = try proxy.metric("dictum_store_versions")
        return outcome
    }

    @Test(arguments: [1, 2, 3])
    func `clients get the deltas that the observer promises`(seed: UInt64)
        throws
    {
        let steps = Self.steps(seed: seed, count: 250)
        let (live, observed) = (try Self.live(steps), try Self.observed(steps))
        #expect(live.deltas == observed.deltas)
        #expect(live.isRefused == observed.isRefused)
        // The comparison means nothing unless both sides give deltas, and refuse some.
        #expect(live.deltas.reduce(0, +) > 60 && live.deltas.contains(0), "\(live)")
    }

    @Test func `a body that its client gains nothing by is no version, live and observed`() throws {
        let steps = (0..<2).map {
            Step(
                kind: 0, client: 1, url: 0, body: Feed.bytes(version: $0, items: 40),
                fields: [forwarded(for: 1)])
        }
        let (live, observed) = (try Self.live(steps), try Self.observed(steps))
        #expect(live.versions == 1 && observed.versions == 1, "\(live), \(observed)")
        #expect(live.deltas[0] == 1 && observed.deltas[0] == 1)
    }
}
