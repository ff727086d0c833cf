import Dictionaries
import Testing

@testable import Storage

/// A simulated day decides by `Encounter` alone: who replays its visits with encounters of his own gets its totals.
@Suite(.timeLimit(.minutes(40))) struct SimulatedDayTests {
    /// Deltas that grow with the age of the dictionary, so that clients gain by another.
    private struct Sizes: ResponseSizes {
        let plainBytes = 4_000
        let packedBytes = 500
        let otherURLBytes = 0

        func deltaBytes(from dictionary: Int, to second: Int, _: DeltaStage) -> Int {
            min(plainBytes, 100 + (second - dictionary))
        }
    }

    private struct Totals: Equatable {
        var (requests, returns, advertised, found, sentBytes, admissions) = (0, 0, 0, 0, 0, 0)
    }

    private static let scenario = {
        var scenario = Scenario(title: "replay", periodSeconds: 60, clients: 60, lifeSeconds: 3600)
        scenario.kinds = [(5_000, 60), (5_000, 1200)]
        scenario.seconds = 3 * 3600
        return scenario
    }()

    /// Lets the clients of the scenario meet its bodies one after the other, over a store of this test's own.
    private func replay() throws -> Totals {
        let scenario = Self.scenario
        var configuration = StoreConfiguration(path: ":memory:")
        configuration.writeBytesPerSecond = 1 << 40
        let store = try DictionaryStore(configuration: configuration)
        defer { store.close() }
        let (reader, sizes) = (store.reader(), Sizes())
        let key = VersionKey(
            chain: ChainKey(authority: "api.example", match: "/feed*"), url: "/feed0", variant: "")
        var clients = SimulatedClients(scenario.clients, of: scenario.kinds, seed: 1)
        var (totals, seen, time) = (Totals(), Set<Int>(), 0.0)
        var holding: [Int: (digest: Digest, second: Int, expiry: Double)] = [:]
        let start = 10_000 * 86_400
        var swept = start
        while time < Double(scenario.seconds) {
            let (seconds, client) = clients.next()
            time += seconds
            _ = clients.pick(1...1)
            let now = start + Int(time)
            let second = now / 60 * 60
            let body = Body(Array("\(now / 60 * 1000)".utf8))
            let held = holding[client].flatMap { time < $0.expiry ? $0 : nil }
            let found = held.flatMap {
                reader.find(digest: $0.digest, authority: "api.example", url: PathAndQuery(path: "/feed"))
            }
            if let found { store.demand.advertised(found, now: now) }
            totals.requests += 1
            if !seen.insert(client).inserted { totals.returns += 1 }
            if held != nil { totals.advertised += 1 }
            var encounter = Encounter(digest: body.digest, key: key)
            (encounter.isNewest, encounter.held, encounter.lifeSeconds) = (true, found, scenario.lifeSeconds)
            if let found, let held {
                let bytes = sizes.deltaBytes(from: held.second, to: second, .first)
                (encounter.deltaBytes, totals.found) = (bytes, totals.found + 1)
                found.recordDelta(bytes: bytes)
                totals.sentBytes += bytes
            } else {
                totals.sentBytes += sizes.plainBytes
            }
            var isOffered = true
            switch encounter.outcome(in: reader, now: now) {
            case .newest(let version), .elsewhere(let version):
                store.demand.offered(version, over: found, now: now)
            case .admission:
                let candidate = VersionCandidate(
                    body, key: key, policy: AdmissionPolicy(versions: 1_000_000),
                    contentType: "application/json")
                _ = try store.admission.admit(candidate, over: found, now: now)
            case .nothing: isOffered = false
            }
            if isOffered, !clients.happens(percent: 0) {
                holding[client] = (body.digest, second, time + Double(scenario.lifeSeconds))
            }
            while swept < now {
                swept += 1
                store.upkeep.sweep(now: swept)
            }
        }
        totals.admissions = store.statistics.admissions
        return totals
    }

    private func day(_ rule: SimulatedDay.Rule) throws -> Totals {
        var day = try SimulatedDay(Self.scenario, Sizes(), rule, scale: 1)
        let outcome = try day.run()
        var totals = Totals()
        (totals.requests, totals.returns, totals.advertised) =
            (outcome.requests, outcome.returns, outcome.advertised)
        (totals.found, totals.sentBytes, totals.admissions) =
            (outcome.found, outcome.sentBytes, outcome.admissions)
        return totals
    }

    @Test
    func `a dictionary is indexed for its second body, and a delta is the strongest after three clients`() {
        let (dictionary, body, other) = (digest(0), digest(1), digest(2))
        var sharing = DeltaSharing()
        let alone = (1...4).map { _ in sharing.stage(of: body, over: dictionary, clients: 1) }
        #expect(alone == [.first, .first, .first, .strongest] as [DeltaStage])
        let second = sharing.stage(of: other, over: dictionary, clients: 1)
        #expect(second == .indexed)
        // One simulated client stands for several, of which half have asked before.
        var groups = DeltaSharing()
        let (few, many) = (
            groups.stage(of: body, over: dictionary, clients: 5),
            groups.stage(of: body, over: other, clients: 6)
        )
        #expect(few == .first && many == .strongest)
    }

    private func digest(_ number: Int) -> Digest { Digest(of: "\(number)".utf8.span) }

    @Test func `a day of simulated clients is a day of encounters`() throws {
        let (replayed, day) = (try replay(), try day(.renewal))
        #expect(replayed == day)
        // The comparison means nothing unless some bodies are left out.
        let always = try self.day(.always)
        #expect(always.admissions > day.admissions && day.found > 100, "\(day), \(always)")
    }
}
