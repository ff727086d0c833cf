internal import Foundation
internal import Storage
internal import Testing

@testable import Proxy

/// Days of browsers whose first visits learn a dictionary, by the decisions of the proxy; only sizes are given.
///
/// `deploy/FIGURES.md` has the shares that it prints.
@Suite(.timeLimit(.minutes(20))) struct LearnedDayTests {
    /// The bytes of a response without a dictionary, and those over each dictionary of `dictum train` with its download.
    struct Kind: Sendable, CustomTestStringConvertible {
        let name: String
        let plain: Int
        let candidates: [(over: Int, download: Int)]
        var saves = true

        var testDescription: String { name }
        static let all = [
            Kind(
                name: "evolution-chain", plain: 300,
                candidates: [(104, 802), (103, 1_030), (99, 1_622), (97, 2_784), (96, 5_104)]),
            Kind(
                name: "item", plain: 1_312,
                candidates: [
                    (1_040, 2_086), (845, 4_685), (822, 7_427), (777, 11_650), (826, 4_171), (783, 8_424),
                    (733, 15_582),
                ]),
            Kind(
                name: "location", plain: 242,
                candidates: [(155, 1_403), (148, 2_353), (143, 4_310), (138, 7_603), (134, 14_097)]),
            Kind(
                name: "ability", plain: 1_579,
                candidates: [
                    (1_358, 1_209), (1_303, 1_650), (1_259, 3_094), (1_178, 4_409), (1_124, 7_717),
                    (1_057, 15_916), (1_023, 24_095),
                ]),
            Kind(
                name: "move", plain: 3_022,
                candidates: [
                    (2_673, 1_722), (2_577, 3_059), (2_338, 5_240), (1_991, 9_065), (1_786, 14_425),
                    (2_273, 4_130),
                    (1_727, 24_127),
                ]),
            Kind(
                name: "pokemon", plain: 3_172,
                candidates: [(2_520, 986), (2_443, 1_286), (2_286, 2_398), (1_933, 4_446), (2_122, 2_935)]),
            Kind(
                name: "pokemon-species", plain: 4_212,
                candidates: [
                    (3_720, 2_037), (3_675, 3_269), (3_471, 5_168), (3_395, 12_276), (3_290, 18_183),
                    (3_165, 31_252),
                ]),
            Kind(name: "no gain", plain: 1_000, candidates: [(990, 12_000), (999, 2_000)], saves: false),
        ]

        /// The dictionary that saves a client most in so many responses, if one does.
        func best(for responses: Int) -> (over: Int, download: Int)? {
            let balances = candidates.map { (responses * (plain - $0.over) - $0.download, $0) }
            return balances.max { $0.0 < $1.0 }.flatMap { $0.0 > 0 ? $0.1 : nil }
        }
    }

    private struct Client {
        var hasDictionary = false
        /// The time at which each resource was fetched last.
        var held: [Int: Double] = [:]
    }

    /// The bytes of some days, downloads included, with a dictionary that is learned and without any.
    private struct Bytes {
        var with = 0
        var without = 0

        var share: Double { Double(with) / Double(without) }
    }

    private static let keptSeconds = 86_400.0
    private static let changeSeconds = 86_400.0

    private static func bytes(_ kind: Kind, days: Int, returns: Bool) -> Bytes {
        var clients = SimulatedClients(1_000, of: SimulatedClients.viewers, seed: 1)
        var states = clients.held.map { _ in Client() }
        var (facts, ledger, bytes) = (LearningPlan.Facts(), AnnouncementLedger(), Bytes())
        facts.proven = LearningPlan.resourcesMin
        var learned: (over: Int, download: Int)?
        var (now, failures) = (0.0, 0)
        while now < Double(days) * 86_400 {
            let (seconds, drawn) = clients.next()
            now += seconds
            var client = drawn
            if !returns {
                // All are new, and never come back.
                states.append(Client())
                client = states.count - 1
            }
            let (second, address) = (Int(now), UInt128(client))
            if case .train(let responses) = LearningPlan.decide(facts, hasProcessorTime: true, now: second) {
                learned = kind.best(for: responses)
                facts.hasDictionary = learned != nil
                failures += 1
                facts.retryAt = LearningPlan.retryAt(failures: failures, now: second)
                facts.visits = FirstVisits()
            }
            for _ in 1...10 {
                // Zipf's law of 1,000 resources.
                let resource = Int(pow(1_000, Double(clients.pick(0...9_999)) / 10_000))
                let before = states[client].held.updateValue(now, forKey: resource)
                guard before.map({ now - $0 > keptSeconds }) ?? true else {
                    let isNew = before.map { Int($0 / changeSeconds) != Int(now / changeSeconds) } ?? true
                    let own = isNew ? max(80, kind.plain / 12) : 0
                    (bytes.with, bytes.without) = (bytes.with + own, bytes.without + own)
                    continue
                }
                let over = states[client].hasDictionary ? learned?.over : nil
                let sent = over ?? kind.plain
                (bytes.with, bytes.without) = (bytes.with + sent, bytes.without + kind.plain)
                facts.visits.record(bytes: sent, of: address, at: second)
                ledger.recordFetch(sent, of: address, at: second)
                if over != nil { ledger.recordSaving(kind.plain - sent, of: address) }
            }
            // The browser downloads what the page has announced after the visit.
            if let learned, !states[client].hasDictionary, ledger.mayAnnounce(at: second) {
                states[client].hasDictionary = true
                bytes.with += learned.download
                ledger.recordCost(learned.download, of: address, at: second)
            }
        }
        return bytes
    }

    @Test(arguments: Kind.all)
    func `all bytes are never above those without a dictionary by more than a hundredth`(kind: Kind) {
        for (days, returns) in [(1, true), (2, true), (3, true), (2, false)] {
            let share = Self.bytes(kind, days: days, returns: returns).share
            print("learned: \(kind.name), \(days) days, returns \(returns): \(share)")
            #expect(share <= 1.01)
            if kind.saves, returns { #expect(share < 1) }
        }
    }
}
