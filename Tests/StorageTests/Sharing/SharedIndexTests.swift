import Primitives
import TestSupport
import Testing

@testable import Dictionaries
@testable import Storage

/// The versions that other nodes have announced, and the questions about them.
@Suite struct SharedIndexTests {
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
        let batch = SharedNews.batches(all)[0]
        #expect(SharedNews.read(batch) == all)
        #expect(SharedNews.read([3, 200, 1, 0] + batch) == all, "an announcement of the future")
        #expect(SharedNews.read(batch + [250]) == all, "a truncated one")
        let names = all.map(\.name)
        #expect(SharedNews.readNames(SharedNews.batch(names: names)) == names)
    }

    @Test func `many announcements are cut into batches, and one that fits none is left out`() {
        let long = news(
            0, ChainKey(authority: "api.example", match: "/" + String(repeating: "a", count: 2_048)))
        let all = (1...100).map { news($0) }
        let batches = SharedNews.batches(Array(all[..<50]) + [long] + Array(all[50...]))
        #expect(batches.allSatisfy { $0.count <= SharedNews.batchBytesMax })
        #expect(batches.count < 10, "and few of them")
        #expect(batches.flatMap(SharedNews.read) == all)
        #expect(news(1).fits && !long.fits)
    }

    @Test func `announcements and changes of holders have the bytes that other releases read`() throws {
        let digest = try #require(Digest(bytes: [UInt8](repeating: 7, count: 32)))
        let name = SharedName(chain: nil, digest: digest)
        var sealed = SharedNews(name: name, chain: nil, rank: 258, bytes: 3)
        sealed.isInProbation = true
        var batch: [UInt8] = [56, 5, 32]
        batch += digest.bytes
        batch += [6, 8, 0, 0, 0, 0, 0, 0, 1, 2, 7, 8, 0, 0, 0, 0, 0, 0, 0, 3, 8, 0]
        #expect(SharedNews.batches([sealed]).first == batch)
        let fields = SharedDemand.fields(of: [SharedDemand(name: name, change: -2, contact: 258)])
        let value: [UInt8] = digest.bytes + [255, 255, 255, 254, 0, 0, 1, 2]
        #expect(fields.count == 1 && fields[0].name == Array("s".utf8) && fields[0].value == value)
    }

    @Test(
        arguments: [(-5, -1, 0, 0), (.min, .min, 0, 0), (5, .max, 5, 12 << 20)]
            as [(Int64, Int64, Int64, Int)])
    func `an announcement states no number that no version can have`(
        rank: Int64, bytes: Int64, readRank: Int64, readBytes: Int
    ) {
        var fields = NumberedFields()
        fields.append(5, sampleBody(3).digest.bytes)
        fields.append(6, rank)
        fields.append(7, bytes)
        var batch: [UInt8] = []
        NumberedFields.append(part: fields.bytes, to: &batch)
        let read = SharedNews.read(batch)
        #expect(read.count == 1 && read.first?.rank == readRank && read.first?.bytes == readBytes)
        // The same of a public version, which names its chain.
        var open = NumberedFields()
        open.append(1, "api.example")
        open.append(2, "/feed")
        open.append(4, sampleBody(3).digest.bytes)
        open.append(6, rank)
        open.append(7, bytes)
        batch = []
        NumberedFields.append(part: open.bytes, to: &batch)
        let version = SharedNews.read(batch).first
        #expect(version?.chain == feedChain && version?.rank == readRank && version?.bytes == readBytes)
    }

    @Test(arguments: [(4_096, true), (4_097, false)])
    func `no more fields are read than any record has`(count: Int, isRead: Bool) {
        let empty = [UInt8](repeating: 0, count: 2 * count)
        #expect((NumberedFields.read(empty[...]) != nil) == isRead)
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
        func find(_ digest: Digest, authority: String = "api.example", path: String = "/feed") -> SharedName?
        {
            index.candidates(digest, authority: authority).first(covering: PathAndQuery(path: path))
        }
        #expect(find(digest) == news(1).name)
        #expect(find(digest, authority: "other.example") == nil)
        #expect(find(digest, path: "/other") == nil)
        #expect(find(news(2).name.digest) == nil)
        #expect(index.contains(digest, in: feedChain))
        #expect(index.due([news(1).name], before: 101).isEmpty, "announced again")
        #expect(index.news(of: news(1).name) == news(1))
    }

    @Test func `a digest of several chains is found in each, and forgotten in one alone`() {
        var index = SharedIndex()
        let chains = ["/a", "/b", "/c"].map { ChainKey(authority: "api.example", match: $0) }
        for chain in chains { index.insert(news(1, chain), now: 1) }
        #expect(index.count == 3)
        for chain in chains {
            #expect(
                index.candidates(news(1).name.digest, authority: "api.example")
                    .first(covering: PathAndQuery(path: chain.match)) == news(1, chain).name)
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

    @Test func `of the chains of a body 65 are looked at, and it is told whether there are more`() {
        var index = SharedIndex()
        let chains = (0...65).map { ChainKey(authority: "api.example", match: "/\($0)") }
        for chain in chains.dropLast() { index.insert(news(1, chain), now: 1) }
        let digest = news(1).name.digest
        let candidates = index.candidates(digest, authority: "api.example")
        #expect(!candidates.isCut)
        for chain in chains.dropLast() {
            #expect(candidates.first(covering: PathAndQuery(path: chain.match)) == news(1, chain).name)
        }
        index.insert(news(1, chains[65]), now: 1)
        #expect(index.candidates(digest, authority: "api.example").isCut)
    }

    @Test func `a chain is known as long as one of its versions is`() {
        var index = SharedIndex()
        for number in 1...3 { index.insert(news(number), now: 1) }
        for number in 1...3 {
            index.remove(news(number).name)
            let known = (1...3).filter { index.contains(news($0).name.digest, in: feedChain) }
            #expect(known.count == 3 - number)
        }
        index.insert(news(1), now: 2)
        #expect(index.contains(news(1).name.digest, in: feedChain))
    }

    @Test func `a digest is still found in the chains that are left`() {
        var index = SharedIndex()
        let chains = ["/a", "/b", "/c"].map { ChainKey(authority: "api.example", match: $0) }
        for chain in chains { index.insert(news(1, chain), now: 1) }
        for gone in chains.indices {
            index.remove(news(1, chains[gone]).name)
            for (place, chain) in chains.enumerated() {
                let found = index.candidates(news(1).name.digest, authority: "api.example")
                    .first(covering: PathAndQuery(path: chain.match))
                #expect(found == (place > gone ? news(1, chain).name : nil))
            }
        }
    }

    /// One page for every path: without care each step would examine all of them.
    @Test(.timeLimit(.minutes(40))) func `a body of very many chains costs as little as any other`() {
        var index = SharedIndex(countMax: 20_000)
        let chains = (0..<60_000).map { ChainKey(authority: "api.example", match: "/\($0)") }
        for chain in chains {
            index.insert(news(1, chain), now: 1)
            index.insert(news(1, chain), now: 2)
            index.add(SharedDemand(name: news(1, chain).name, change: 1, contact: 0))
        }
        #expect(index.count == 20_000)
        let digest = news(1).name.digest
        #expect(index.candidates(digest, authority: "api.example").isCut)
        for (place, chain) in chains.enumerated() {
            #expect(index.contains(digest, in: chain) == (place >= 40_000))
        }
        for chain in chains { index.remove(news(1, chain).name) }
        #expect(index.count == 0)
        #expect(!index.candidates(digest, authority: "api.example").isCut)
    }

    @Test(.timeLimit(.minutes(40))) func `made-up digests that collide cost as little`() throws {
        var index = SharedIndex()
        for number in 0..<60_000 {
            let bytes = Array(repeating: UInt8(7), count: 24) + BigEndian.bytes(UInt64(number))
            let name = SharedName(publicChain: feedChain, digest: try #require(Digest(bytes: bytes)))
            index.insert(SharedNews(name: name, chain: feedChain, rank: 1, bytes: 8), now: 1)
            index.insert(
                SharedNews(name: SharedName(chain: nil, digest: name.digest), chain: nil, rank: 1, bytes: 8),
                now: 1)
        }
        #expect(index.count == 120_000)
    }

    @Test func `long names take the place of more versions than short ones`() {
        var index = SharedIndex(countMax: 100)
        let name = String(repeating: "a", count: 4_000)
        for number in 0..<100 {
            index.insert(news(1, ChainKey(authority: "api.example", match: "/\(number)\(name)")), now: 1)
        }
        #expect(1...20 ~= index.count && index.isIncomplete)
        for number in 0..<100 { index.insert(news(number), now: 2) }
        #expect(index.count == 100)
        let siblings = (0..<1_000).map { _ in name }
        let wide = ChainKey(authority: "api.example", match: "/", matchDest: siblings)
        index.insert(news(1, wide), now: 3)
        #expect(index.count <= 1)
    }

    @Test func `public and sealed versions are forgotten apart`() {
        var index = SharedIndex(countMax: 2)
        let sealed = SharedNews(
            name: SharedName(chain: nil, digest: sampleBody(3).digest), chain: nil, rank: 9, bytes: 77)
        for one in [news(0), news(1), sealed] { index.insert(one, now: 1) }
        #expect(index.isIncomplete)
        index.removeAll(isSealed: false)
        #expect(index.count == 1 && index.contains(sealed.name) && index.isIncomplete)
        index.removeAll(isSealed: true)
        #expect(index.count == 0 && !index.isIncomplete)
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
        let told = index.takeHolders(of: name)
        #expect(told == SharedDemand(name: name, change: 2, contact: 50))
        let again = index.takeHolders(of: name)
        #expect(again == nil && index.holders(of: name) == 0)
        let outcome7 = index.add(SharedDemand(name: name, change: -9, contact: 0))
        #expect(outcome7)
        #expect(index.holders(of: name) == 0)
        for _ in 0..<2 { index.add(SharedDemand(name: name, change: .max, contact: 0)) }
        #expect(index.holders(of: name) == Int(Int32.max))
        let outcome8 = index.add(SharedDemand(name: news(2).name, change: 1, contact: 0))
        #expect(!outcome8)
    }

    @Test func `a version in probation is due for renewal at once, any other when it is old`() {
        var index = SharedIndex()
        var inProbation = news(1)
        inProbation.isInProbation = true
        #expect(SharedNews.batches([inProbation]).map(SharedNews.read) == [[inProbation]])
        index.insert(inProbation, now: 100)
        index.insert(news(2), now: 100)
        let names = [news(1).name, news(2).name, news(3).name]
        #expect(index.due(names, before: 100) == [news(1)])
        #expect(index.allNews.contains(inProbation) && index.news(of: news(1).name) == inProbation)
        #expect(index.due(names, before: 101) == [news(1), news(2)])
        index.insert(news(1), now: 100)
        #expect(index.due(names, before: 100).isEmpty, "renewed")
        index.insert(inProbation, now: 100)
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
        #expect(outcome10 == nil)
        let outcome11 = questions.judge(name, client: 1, isAnnounced: false, isComplete: false, now: second)
        #expect(outcome11 == nil)
    }

    @Test func `a client that names anything is limited, and others are not`() {
        var questions = SharedQuestions()
        var asked = 0
        for number in 0..<1_000
        where questions.judge(
            news(number).name, client: 1, isAnnounced: false, isComplete: false, now: second) == nil
        {
            asked += 1
        }
        #expect(asked == 5)
        let outcome12 = questions.judge(
            news(1).name, client: 2, isAnnounced: false, isComplete: false, now: second)
        #expect(outcome12 == nil, "what was refused takes nothing of what all may ask for")
        let outcome13 = questions.judge(
            news(1).name, client: 1, isAnnounced: true, isComplete: false, now: second)
        #expect(
            outcome13 == nil,
            "an announced version")
        let outcome14 = questions.judge(
            news(1).name, client: 1, isAnnounced: false, isComplete: false, now: 2 * second)
        #expect(outcome14 == nil, "a second later")
    }

    @Test func `all clients together are limited`() {
        var questions = SharedQuestions()
        let verdicts = (0..<1000).map { number in
            questions.judge(
                news(number).name, client: UInt128(number), isAnnounced: false, isComplete: false, now: second
            )
        }
        #expect(verdicts.filter { $0 == nil }.count == 200)
        #expect(verdicts.last == .limited)
    }

    @Test func `announced versions have a limit of their own, in which no client is told from others`() {
        var questions = SharedQuestions()
        let verdicts = (0..<2_100).map { number in
            questions.judge(news(number).name, client: 1, isAnnounced: true, isComplete: true, now: second)
        }
        #expect(verdicts.count { $0 == nil } == 2_000 && verdicts.last == .limited)
        let other = questions.judge(
            news(1).name, client: 1, isAnnounced: false, isComplete: false, now: second)
        #expect(other == nil, "it has not used up what others may ask for")
    }

    @Test func `what nobody has is not asked for again for a while, unless a node announces it`() {
        var questions = SharedQuestions()
        let name = news(1).name
        questions.recordMissing(name, now: second)
        func verdict(at now: UInt64) -> SharedLookUp? {
            questions.judge(name, client: 1, isAnnounced: true, isComplete: true, now: now)
        }
        #expect(verdict(at: 30 * second) == .miss)
        #expect(verdict(at: 31 * second) == nil)
        questions.recordMissing(name, now: 40 * second)
        questions.recordAnnounced(name)
        #expect(verdict(at: 41 * second) == nil)
    }
}
