import Primitives
import TestSupport
import Testing

@testable import Dictionaries
@testable import Storage

/// The index, whose versions are objects only while they are in use.
@Suite struct VersionIndexTests {
    /// The expected state of a version.
    private struct Known: Hashable {
        let id: Int64
        var rank: Int64
        let chain: Int
        let url: String
        let variant: String
        let body: Int
        var etag: String?
    }

    private static let authorities = ["a.example", "b.example"]

    private func key(_ chain: Int) -> ChainKey {
        ChainKey(
            authority: Self.authorities[chain % 2], scope: chain % 5 == 4 ? .unlisted : .public,
            match: "/\(chain)/*")
    }

    private func digest(_ body: Int) -> Digest { Digest(of: [UInt8]("body \(body)".utf8).span) }

    private func version(_ known: Known, in index: DictionaryIndex, maxAge: Int = 10) -> Version {
        let facts = VersionFacts(
            digest: digest(known.body), url: known.url, variant: known.variant, etag: known.etag,
            contentType: known.body % 3 == 0 ? nil : "application/json", bytes: 100 + known.body,
            maxAge: maxAge)
        let home = index.chain(key(known.chain)) ?? Chain(key(known.chain))
        return Version(
            facts, id: known.id, rank: known.rank, chain: home, .held(at: 5, wantedAt: 7))
    }

    /// Compares the index with the versions that the test knows.
    private func check(_ index: DictionaryIndex, has all: [Known]) {
        #expect(index.versionCount == all.count)
        #expect(index.chainCount == Set(all.map(\.chain)).count)
        #expect(Set(index.allVersions().map(\.id)) == Set(all.map(\.id)))
        for known in all {
            let found = index.version(
                VersionKey(chain: key(known.chain), url: known.url, variant: known.variant),
                digest: digest(known.body))
            #expect(found?.id == known.id && found?.rank == known.rank && found?.bytes == 100 + known.body)
            #expect(found?.variant == known.variant && found?.had(etag: known.etag) == true)
            #expect(found?.isFrom(known.url) == true && found?.chainKey == key(known.chain))
            #expect(index.version(row: known.id)?.digest == digest(known.body))
            let same = all.filter {
                $0.chain == known.chain && $0.url == known.url && $0.variant == known.variant
            }
            #expect(
                index.newest(VersionKey(chain: key(known.chain), url: known.url, variant: known.variant))?
                    .rank
                    == same.map(\.rank).max())
            let isUnlisted = key(known.chain).scope == .unlisted
            let siblings = all.filter {
                $0.body == known.body && $0.id != known.id && (key($0.chain).scope == .unlisted) == isUnlisted
            }
            let named = found.map { Set(index.siblings(of: $0)) } ?? []
            #expect(named.isSubset(of: siblings.map(\.id)) && named.isEmpty == siblings.isEmpty)
            if !isUnlisted {
                let chains = Set(
                    all.filter { $0.body == known.body && $0.chain % 2 == known.chain % 2 }.map(\.chain))
                let byDigest = index.find(
                    digest: digest(known.body), authority: Self.authorities[known.chain % 2],
                    url: PathAndQuery(path: "/\(known.chain)/x"))
                #expect(byDigest?.digest == digest(known.body) && byDigest?.chainKey == key(known.chain))
                #expect(chains.contains(known.chain))
            }
        }
    }

    @Test(arguments: [0, 3, 1 << 20])
    func `whatever comes, returns and goes, it finds what is there and nothing else`(inUseMax: Int) {
        var random = SplitMix(seed: 11)
        func roll(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
        let index = DictionaryIndex(inUseMax: inUseMax)
        var all: [Known] = []
        var nextRank: Int64 = 1
        var gone: [Version] = []
        for step in 0..<3000 {
            let new = Known(
                id: nextRank << 11, rank: nextRank, chain: roll(9), url: "/u/\(roll(4))",
                variant: roll(3) == 0 ? "de" : "",
                body: roll(40), etag: roll(2) == 0 ? "tag\(roll(3))" : nil)
            nextRank += 1
            let place = all.firstIndex {
                ($0.chain, $0.url, $0.variant, $0.body) == (new.chain, new.url, new.variant, new.body)
            }
            if let place {
                guard let former = index.version(row: all[place].id) else {
                    Issue.record("row \(all[place].id) is missing in step \(step)")
                    return
                }
                // Half of the returning versions get another row.
                let returned = Known(
                    id: roll(2) == 0 ? former.id : new.id, rank: new.rank, chain: new.chain, url: new.url,
                    variant: new.variant, body: new.body, etag: new.etag)
                #expect(index.replace(former, by: version(returned, in: index)) != nil)
                gone.append(former)
                all[place] = returned
            } else if all.count > 60 || roll(3) == 0, !all.isEmpty {
                let place = roll(all.count)
                guard let leaving = index.version(row: all[place].id) else {
                    Issue.record("row \(all[place].id) is missing in step \(step)")
                    return
                }
                #expect(index.remove(leaving) != nil)
                gone.append(leaving)
                all.remove(at: place)
            } else {
                index.insert(version(new, in: index))
                all.append(new)
            }
            // The object of a removed or replaced version must not affect the present one.
            if let stale = gone.last, step % 7 == 0 { #expect(index.remove(stale) == nil) }
            if step % 100 == 0 { check(index, has: all) }
        }
        check(index, has: all)
        for known in all { if let version = index.version(row: known.id) { _ = index.remove(version) } }
        check(index, has: [])
    }

    @Test
    func `a version that nobody uses is laid down with all that is known of it, and comes back the same`()
        throws
    {
        let index = DictionaryIndex(inUseMax: 0)
        var known = Known(id: 1 << 11, rank: 1, chain: 1, url: "/u", variant: "de", body: 1, etag: "tag")
        func use() {
            let version = self.version(known, in: index, maxAge: 1000)
            index.insert(version)
            _ = version.want(at: 500)
            version.addHolders(1)
            version.addHolders(1)
            version.hasReturned = true
            version.lastOffered = 400
            version.recordContact(at: 450)
            version.handedOnAt = 460
            version.successor = 77
            version.recordDelta(bytes: 33)
            version.recordDelta(bytes: 44)
            version.setCurrent(false)
        }
        use()
        // Use other versions until the first becomes a record.
        for other in 2...200 {
            known = Known(
                id: Int64(other) << 11, rank: Int64(other), chain: 2, url: "/o", variant: "", body: other)
            index.insert(version(known, in: index))
        }
        #expect(index.tables.withLock { $0.inUse.count } < 20)
        let version = try #require(index.version(row: 1 << 11))
        #expect(
            version.digest == digest(1) && version.rank == 1 && version.bytes == 101
                && version.admittedAt == 5)
        #expect(version.lastWanted == 500 && version.maxAge == 1000 && version.expiry == 1500)
        #expect(version.holders == 3 && version.isShared && version.hasReturned && !version.isCurrent)
        #expect(version.lastOffered == 400 && version.lastContact == 450 && version.handedOnAt == 460)
        #expect(version.successor == 77 && version.lastDeltaBytes == 44 && version.firstDeltaBytes == 33)
        #expect(version.variant == "de" && version.contentType == "application/json")
        #expect(version.had(etag: "tag") && !version.had(etag: "other") && !version.had(etag: nil))
        #expect(version.isFrom("/u") && !version.isFrom("/o") && version.isFromRecord)
    }

    @Test func `what is noted of a version that somebody holds is not lost while others come and go`() throws
    {
        let index = DictionaryIndex(inUseMax: 0)
        let first = version(Known(id: 1, rank: 1, chain: 1, url: "/u", variant: "", body: 1), in: index)
        index.insert(first)
        for other in 2...500 {
            let known = Known(
                id: Int64(other), rank: Int64(other), chain: 2, url: "/o", variant: "", body: other)
            index.insert(version(known, in: index))
            first.addHolders(1)
            #expect(index.version(row: 1) === first)
        }
        #expect(first.holders == 500)
    }

    @Test func `a version that Links name, and one with a head, stay objects`() throws {
        let index = DictionaryIndex(inUseMax: 0)
        let chain = Chain(key(1))
        func facts(_ body: Int) -> VersionFacts {
            VersionFacts(
                digest: digest(body), url: "/\(body)", bytes: 1,
                maxAge: 1)
        }
        index.insert(
            Version(
                facts(1), id: 1, rank: 1, chain: chain,
                .held(at: 0), rare: RareState(pinnedUntil: 900)))
        index.insert(
            Version(
                facts(2), id: 2, rank: 2, chain: chain,
                .held(at: 0), head: StoredHead([1, 2, 3], memory: HeadMemory(bytesMax: 100))))
        for other in 3...300 {
            index.insert(
                version(
                    Known(id: Int64(other), rank: 3, chain: 2, url: "/o", variant: "", body: other), in: index
                ))
        }
        #expect(index.named(chain.key, now: 899).map(\.id) == [1])
        #expect(index.version(row: 1)?.pinnedUntil == 900)
        #expect(index.newestWithHead(chain.key, url: "/2") { _ in true }?.head?.bytes == [1, 2, 3])
    }

    @Test
    func `rows grow with the ranks, and differ in two processes that choose one in the same microsecond`() {
        let rows = (0..<64).map { _ in Version.row(1_000_000) }
        // With 2,048 rows to choose from, one pair or so is equal.
        #expect(Set(rows).count > 48)
        let next = Version.row(1_000_001)
        #expect(rows.allSatisfy { $0 < next })
    }

    @Test func `chains that come and go leave their places to the next ones`() throws {
        let index = DictionaryIndex(inUseMax: 0)
        for number in 1...200 {
            let known = Known(
                id: Int64(number), rank: Int64(number), chain: number, url: "/u", variant: "", body: 1)
            index.insert(version(known, in: index))
            _ = index.remove(try #require(index.version(row: known.id)))
        }
        let places = index.tables.withLock { $0.chains.count }
        #expect(index.chainCount == 0 && places == 1)
    }

    @Test func `the last that had an entity tag is found behind newer ones`() throws {
        let index = DictionaryIndex(inUseMax: 0)
        for number in 1...100 {
            let known = Known(
                id: Int64(number), rank: Int64(number), chain: 1, url: "/u", variant: "", body: number,
                etag: "t\(number % 50)")
            index.insert(version(known, in: index))
        }
        func find(_ tag: String) -> Int64? {
            index.version(VersionKey(chain: key(1), url: "/u", variant: ""), etag: tag)?.id
        }
        #expect(find("t49") == 99 && find("t0") == 100 && find("t40") == 90 && find("none") == nil)
        for id in [99, 100] as [Int64] { _ = index.remove(try #require(index.version(row: id))) }
        #expect(index.newest(VersionKey(chain: key(1), url: "/u", variant: ""))?.id == 98)
        #expect(find("t48") == 98)
    }
}

@Suite struct PlaceTableTests {
    @Test(arguments: [UInt64.max, 3])
    func `after any changes it holds what a dictionary holds`(hashes: UInt64) {
        var table = PlaceTable()
        var expected: Set<Int32> = []
        var random = SplitMix(seed: 5)
        // With three hashes all places are in three clusters.
        func hash(_ place: Int32) -> UInt64 { (UInt64(place) &* 0x9E37_79B9_7F4A_7C15) % hashes }
        let steps = hashes == 3 ? 3000 : 30_000
        for _ in 0..<steps {
            let place = Int32(random.next() % (hashes == 3 ? 100 : 4000))
            #expect((table.first(hash(place)) { $0 == place } == place) == expected.contains(place))
            if expected.remove(place) != nil {
                table.remove(place, hash(place))
            } else {
                table.insert(place, hash(place))
                expected.insert(place)
            }
        }
        for place in 0..<4000 as Range<Int32> {
            #expect((table.first(hash(place)) { $0 == place } != nil) == expected.contains(place))
        }
    }

    @Test func `it takes less than nine bytes a place`() {
        for count in [10_000, 20_000, 50_000, 100_000] {
            var table = PlaceTable()
            for place in 0..<Int32(count) { table.insert(place, UInt64(place)) }
            #expect(table.bytes < 9 * count + 256 * 96)
        }
    }

    @Test func `a place that is put where another was is found in its stead`() {
        var table = PlaceTable()
        table.insert(1, 9)
        table.replace(1, by: 2, 9)
        #expect(table.first(9) { _ in true } == 2)
        table.remove(1, 9)
        #expect(table.first(9) { _ in true } == 2)
        table.remove(2, 9)
        #expect(table.first(9) { _ in true } == nil)
    }
}
