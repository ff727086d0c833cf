import Foundation
import Primitives
import Testing

@testable import Dictionaries
@testable import Storage

@Suite struct StoreScaleTests {
    private func microseconds(_ duration: Duration, _ count: Int) -> String {
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        return String(format: "%.2f µs", seconds * 1e6 / Double(count))
    }

    /// Times are printed, not judged, because they depend on the machine and the build.
    @Test(arguments: [10, 1000, 100_000])
    func `every version among many is found, and one more admitted at once`(count: Int) throws {
        let clock = ContinuousClock()
        var state = StoreState(heads: HeadMemory(bytesMax: 0))
        let reader = DictionaryIndex.Reader(state.index)
        let empty = Body([])
        let digests = (0..<count).map { Digest(of: [UInt8]("body \($0)".utf8).span) }
        func admit(_ number: Int, _ digest: Digest) {
            let key = ChainKey(authority: "api.example", match: "/items/\(number / 4)")
            let facts = VersionFacts(
                digest: digest, url: key.match, bytes: 0,
                maxAge: 1000)
            let policy = AdmissionPolicy(versions: 10_000)
            _ = state.admit(
                facts, body: empty, chain: key, policy: policy, now: 1000)
        }
        let filling = clock.measure { for (number, digest) in digests.enumerated() { admit(number, digest) } }
        #expect(
            reader.contains(chain: ChainKey(authority: "api.example", match: "/items/0"), digest: digests[0]))

        let more = (0..<1000).map { Digest(of: [UInt8]("more \($0)".utf8).span) }
        let admitting = clock.measure {
            for (number, digest) in more.enumerated() { admit(number * count / 1000, digest) }
        }
        var found = 0
        let finding = clock.measure {
            for (number, digest) in digests.enumerated() {
                let version = reader.find(
                    digest: digest, authority: "api.example", url: PathAndQuery(path: "/items/\(number / 4)"))
                if version?.digest == digest { found += 1 }
            }
        }
        #expect(found == count)
        var listed = 0
        let listing = clock.measure { listed = state.index.rankedChains(by: .bytes).ranks.count }
        #expect(listed == (count + 3) / 4)
        print(
            "\(count) versions: first admission \(microseconds(filling, count)), one more",
            "\(microseconds(admitting, 1000)), look-up \(microseconds(finding, count)), listed",
            "\(microseconds(listing, listed)) per chain")
    }

    @Test func `a store of 10,000 bodies opens without reading them`() throws {
        let folder = try StoreFolder()
        let bytes = 50_000
        let store = try DictionaryStore.open(folder.database)
        store.close()
        // SQLite itself writes the rows; only opening is measured.
        try folder.sqlite(
            """
            WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9999)
            INSERT INTO body (id, bytes) SELECT i, zeroblob(\(bytes)) FROM n;
            INSERT INTO chain (id, authority, scope, "match", match_dest)
                SELECT id, 'api.example', 'public', '/items/' || id, '' FROM body WHERE id < 2500;
            INSERT INTO version (id, chain, body, digest, url, variant, size, rank, admitted, last_wanted, max_age)
                SELECT id, id % 2500, id, randomblob(32), '/items/' || (id % 2500), '', \(bytes), id, 0, 0, 1000 FROM body;
            """)
        let read = bytesRead()
        var reopened: DictionaryStore?
        let opening = try ContinuousClock().measure {
            reopened = try .open(folder.database, maxChains: 10_000)
        }
        #expect(reopened?.statistics.versions == 10_000)
        #expect(bytesRead() - read < 10_000 * bytes / 20)
        print("10,000 versions opened in \(opening), \(bytesRead() - read) bytes read")
    }

    @Test func `admissions change no more of a large store than of a small one`() throws {
        let pages = try [10, 20_000].map { try pagesChanged(storing: $0) }
        print("pages that 200 admissions change: \(pages[0]) among 10 versions, \(pages[1]) among 20,000")
        #expect(pages[1] < pages[0] + 50)
        // The counterexample: a tree ordered by digests alone, in which each row changes another page.
        let spread = try pagesChanged(storing: 20_000, index: "CREATE INDEX spread ON version (digest)")
        #expect(spread > pages[1] + 100)
    }

    /// Returns the number of pages that 200 admissions in one transaction add to the log of a store with so
    /// many versions.
    private func pagesChanged(storing count: Int, index: String = "") throws -> Int {
        let folder = try StoreFolder()
        try DictionaryStore.open(folder.database).close()
        try folder.sqlite(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
            INSERT INTO body (id, bytes) SELECT i, randomblob(100) FROM n;
            INSERT INTO chain (id, authority, scope, "match", match_dest)
                SELECT id, 'api.example', 'public', '/items/' || id, '' FROM body WHERE id <= 1 + \(count) / 10;
            INSERT INTO version (id, chain, body, digest, url, variant, size, rank, admitted, last_wanted, max_age)
                SELECT id, 1 + id / 10, id, randomblob(32), '/items/' || (id / 10), '', 100, id, 0, 0, 1000
                FROM body;
            \(index)
            """)
        let store = try DictionaryStore.open(folder.database, maxChains: 10_000)
        #expect(store.statistics.versions == count)
        func admit(_ seeds: Range<Int>) {
            store.writeQueue.suspend()
            for seed in seeds {
                store.admit(
                    sampleBody(seed, count: 100),
                    chain: ChainKey(authority: "api.example", match: "/\(seed % 10)"),
                    keep: 1000)
            }
            store.writeQueue.resume()
            #expect(store.upkeep.flush())
        }
        // The first admissions make the chains.
        admit(0..<10)
        let database = try #require(store.writer.openDatabase)
        try store.writeQueue.sync { try database.checkpoint() }
        let before = store.statistics.transactions
        #expect(try database.size().log == 0)
        admit(10..<210)
        #expect(store.statistics.transactions == before + 1)
        return try database.size().log / database.size().page
    }

    /// Returns the bytes that this process has read so far, as the kernel counts them.
    private func bytesRead() -> Int {
        let lines = (try? String(contentsOfFile: "/proc/self/io", encoding: .utf8)) ?? ""
        return lines.split(separator: "\n").first.flatMap { Int($0.dropFirst("rchar: ".count)) } ?? 0
    }
}
