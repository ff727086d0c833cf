import Primitives
import TestSupport
import Testing

@testable import Dictionaries

/// The versions that other nodes have announced, and the questions about them.
@Suite struct SharedIndexTests {
    private let url = PathAndQuery(path: "/feed")

    private func news(_ number: Int, _ chain: ChainKey = feedChain) -> SharedNews {
        let digest = sampleBody(number, count: 8).digest
        return SharedNews(
            name: SharedName(publicChain: chain, digest: digest), chain: chain, rank: Int64(number), bytes: 8)
    }

    // MARK: Announcements

    @Test func `a batch of announcements returns in order, whatever else it has`() {
        let chain = ChainKey(authority: "api.example", match: "/app/*", matchDest: ["script", "style"])
        let sealed = SharedNews(
            name: SharedName(chain: nil, digest: sampleBody(3).digest), chain: nil, rank: 9, bytes: 77)
        let all = [news(1), news(2, chain), sealed]
        #expect(SharedNews.read(SharedNews.batch(all)) == all)
        #expect(
            SharedNews.read([3, 200, 1, 0] + SharedNews.batch(all)) == all, "an announcement of the future")
        #expect(SharedNews.read(SharedNews.batch(all) + [250]) == all, "a truncated one")
        let names = all.map(\.name)
        #expect(SharedNews.readNames(SharedNews.batch(names: names)) == names)
    }

    @Test func `random bytes are no announcements, and never trap`() {
        var random = SplitMix(seed: 20_261_123)
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...80, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            _ = SharedNews.read(bytes)
            _ = SharedNews.readNames(bytes)
            _ = SharedDemand.read((SharedDemand.Entry.holders, bytes))
            _ = SharedDemand.read((SharedDemand.Entry.sealedHolders, bytes))
            _ = SharedRecord(bytes, named: news(1).name, keys: nil)
            _ = SharedValue(bytes)
        }
    }

    @Test func `changes of holders return from a batch`() {
        let all = [
            SharedDemand(name: news(1).name, change: -3, contact: 1_700_000_000),
            SharedDemand(name: news(2).name, change: 5, contact: 0),
            SharedDemand(name: SharedName(chain: nil, digest: sampleBody(3).digest), change: 1, contact: 9),
        ]
        let fields = SharedDemand.fields(of: all)
        #expect(fields.flatMap(SharedDemand.read) == all)
        #expect(fields.flatMap { SharedDemand.read(($0.name, $0.value + [1, 2, 3])) } == all)
        #expect(SharedDemand.read((Array("z".utf8), fields[0].value)).isEmpty)
    }

    // MARK: The index

    @Test func `an announced digest is found where its chain covers the URL`() {
        var index = SharedIndex()
        let outcome1 = index.insert(news(1), now: 100)
        #expect(outcome1)
        let outcome2 = index.insert(news(1), now: 101)
        #expect(!outcome2, "known")
        let digest = news(1).name.digest
        #expect(index.find(digest, authority: "api.example", url: url) == news(1).name)
        #expect(index.find(digest, authority: "other.example", url: url) == nil)
        #expect(index.find(digest, authority: "api.example", url: PathAndQuery(path: "/other")) == nil)
        #expect(index.find(news(2).name.digest, authority: "api.example", url: url) == nil)
        #expect(index.contains(digest, in: feedChain))
        #expect(index.announcedAt(news(1).name) == 101)
        #expect(index.news(of: news(1).name) == news(1))
    }

    @Test func `a digest of several chains is found in each, and forgotten in one alone`() {
        var index = SharedIndex()
        let chains = ["/a", "/b", "/c"].map { ChainKey(authority: "api.example", match: $0) }
        for chain in chains { index.insert(news(1, chain), now: 1) }
        #expect(index.count == 3)
        for chain in chains {
            #expect(
                index.find(
                    news(1).name.digest, authority: "api.example", url: PathAndQuery(path: chain.match))
                    == news(1, chain).name)
        }
        for (place, chain) in chains.enumerated() {
            let outcome3 = index.remove(news(1, chain).name)
            #expect(outcome3)
            let outcome4 = index.remove(news(1, chain).name)
            #expect(!outcome4)
            for (other, key) in chains.enumerated() {
                #expect(index.contains(news(1).name.digest, in: key) == (other > place))
            }
        }
        #expect(index.count == 0)
    }

    @Test func `beyond its bound the index forgets what was announced longest ago`() {
        var index = SharedIndex(countMax: 10)
        for number in 0..<10 { index.insert(news(number), now: number) }
        #expect(!index.isIncomplete)
        index.insert(news(0), now: 10)
        index.insert(news(10), now: 11)
        #expect(index.count == 10 && index.isIncomplete)
        #expect(index.contains(news(0).name), "announced again")
        #expect(!index.contains(news(1).name))
        for round in 0..<1000 { index.insert(news(round % 7), now: round) }
        #expect(index.count <= 10)
        for number in 0..<7 { #expect(index.contains(news(number).name)) }
    }

    @Test func `holders at other nodes are summed, and never fewer than none`() {
        var index = SharedIndex()
        index.insert(news(1), now: 1)
        let name = news(1).name
        let outcome5 = index.add(SharedDemand(name: name, change: 3, contact: 50))
        #expect(outcome5)
        let outcome6 = index.add(SharedDemand(name: name, change: -1, contact: 0))
        #expect(outcome6)
        #expect(index.holders(of: name) == 2)
        let outcome7 = index.add(SharedDemand(name: name, change: -9, contact: 0))
        #expect(outcome7)
        #expect(index.holders(of: name) == 0)
        let outcome8 = index.add(SharedDemand(name: news(2).name, change: 1, contact: 0))
        #expect(!outcome8)
    }

    @Test func `a provisional version is due for renewal at once, any other when it is old`() {
        var index = SharedIndex()
        var provisional = news(1)
        provisional.isProvisional = true
        #expect(SharedNews.read(SharedNews.batch([provisional])) == [provisional])
        index.insert(provisional, now: 100)
        index.insert(news(2), now: 100)
        let names = [news(1).name, news(2).name, news(3).name]
        #expect(index.due(names, before: 100) == [news(1)])
        #expect(index.due(names, before: 101) == [news(1), news(2)])
        index.insert(news(1), now: 100)
        #expect(index.due(names, before: 100).isEmpty, "renewed")
        index.insert(provisional, now: 100)
        #expect(index.due(names, before: 100).isEmpty, "another node's late announcement")
    }

    // MARK: Questions

    private let second: UInt64 = 1_000_000_000

    @Test func `a version that no node has announced is not asked for once all announcements are known`() {
        var questions = SharedQuestions()
        let name = news(1).name
        let outcome9 = questions.judge(name, client: 1, isAnnounced: false, isComplete: true, now: second)
        #expect(outcome9 == .unannounced)
        let outcome10 = questions.judge(name, client: 1, isAnnounced: true, isComplete: true, now: second)
        #expect(outcome10 == .ask)
        let outcome11 = questions.judge(name, client: 1, isAnnounced: false, isComplete: false, now: second)
        #expect(outcome11 == .ask)
    }

    @Test func `a client that names anything is limited, and others are not`() {
        var questions = SharedQuestions()
        var asked = 0
        for number in 0..<100
        where questions.judge(
            news(number).name, client: 1, isAnnounced: false, isComplete: false, now: second) == .ask
        {
            asked += 1
        }
        #expect(asked == 5)
        let outcome12 = questions.judge(
            news(1).name, client: 2, isAnnounced: false, isComplete: false, now: second)
        #expect(outcome12 == .ask)
        let outcome13 = questions.judge(
            news(1).name, client: 1, isAnnounced: true, isComplete: false, now: second)
        #expect(
            outcome13 == .ask,
            "an announced version")
        let outcome14 = questions.judge(
            news(1).name, client: 1, isAnnounced: false, isComplete: false, now: 2 * second)
        #expect(outcome14 == .ask, "a second later")
    }

    @Test func `all clients together are limited`() {
        var questions = SharedQuestions()
        let verdicts = (0..<1000).map { number in
            questions.judge(
                news(number).name, client: UInt128(number), isAnnounced: false, isComplete: false, now: second
            )
        }
        #expect(verdicts.filter { $0 == .ask }.count == 200)
        #expect(verdicts.last == .limited)
    }

    @Test func `what nobody has is not asked for again for a while, unless a node announces it`() {
        var questions = SharedQuestions()
        let name = news(1).name
        questions.recordMissing(name, now: second)
        func verdict(at now: UInt64) -> SharedQuestions.Verdict {
            questions.judge(name, client: 1, isAnnounced: true, isComplete: true, now: now)
        }
        #expect(verdict(at: 30 * second) == .missing)
        #expect(verdict(at: 31 * second) == .ask)
        questions.recordMissing(name, now: 40 * second)
        questions.recordAnnounced(name)
        #expect(verdict(at: 41 * second) == .ask)
    }
}
