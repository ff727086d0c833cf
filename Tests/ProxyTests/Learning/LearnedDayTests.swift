internal import Foundation
internal import Storage
internal import Testing

@testable import Proxy

/// Days of browsers whose first visits learn a dictionary, by the decisions of the proxy; only sizes are given.
@Suite(.timeLimit(.minutes(20))) struct LearnedDayTests {
    /// The bytes of a response without a dictionary and over it, and of the download (`deploy/BUILT.md`).
    struct Kind: Sendable, CustomTestStringConvertible {
        let name: String
        let plain: Int
        let over: Int
        let download: Int
        var saves = true

        var testDescription: String { name }
        static let all = [
            Kind(name: "evolution-chain", plain: 302, over: 95, download: 1_600),
            Kind(name: "item", plain: 1_281, over: 712, download: 12_000),
            Kind(name: "species", plain: 4_264, over: 3_229, download: 30_000, saves: false),
            Kind(name: "no gain", plain: 1_000, over: 990, download: 12_000, saves: false),
        ]
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
        var downloads = 0
    }

    private static let keptSeconds = 86_400.0
    private static let changeSeconds = 86_400.0

    private static func bytes(_ kind: Kind, days: Int, returns: Bool) -> Bytes {
        var clients = SimulatedClients(1_000, of: SimulatedClients.viewers, seed: 1)
        var states = clients.held.map { _ in Client() }
        var (facts, ledger, bytes) = (LearningPlan.Facts(), AnnouncementLedger(), Bytes())
        facts.proven = LearningPlan.resourcesMin
        var failures = 0
        var now = 0.0
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
                facts.hasDictionary = responses * (kind.plain - kind.over) > kind.download
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
                let sent = states[client].hasDictionary ? kind.over : kind.plain
                (bytes.with, bytes.without) = (bytes.with + sent, bytes.without + kind.plain)
                facts.visits.record(bytes: sent, of: address, at: second)
                ledger.recordFetch(sent, of: address, at: second)
                if states[client].hasDictionary { ledger.recordSaving(kind.plain - sent, of: address) }
            }
            // The browser downloads what the page has announced after the visit.
            if facts.hasDictionary, !states[client].hasDictionary, ledger.mayAnnounce(at: second) {
                states[client].hasDictionary = true
                bytes.with += kind.download
                bytes.downloads += 1
                ledger.recordCost(kind.download, of: address, at: second)
            }
        }
        return bytes
    }

    @Test(arguments: Kind.all)
    func `all bytes are never above those without a dictionary by more than a hundredth`(kind: Kind) {
        for (days, returns) in [(1, true), (2, true), (2, false)] {
            let bytes = Self.bytes(kind, days: days, returns: returns)
            let share = Double(bytes.with) / Double(bytes.without)
            #expect(share <= 1.01)
            if kind.saves, returns, days == 2 { #expect(share < 0.97) }
        }
    }
}
