import Testing

@testable import Dictionaries

@Suite struct DigestTableTests {
    private func version(
        _ id: Int64, _ body: Body = sampleBody(1), authority: String = "api.example", rank: Int64 = 1
    ) -> Version {
        let facts = VersionFacts(
            digest: body.digest, url: "/\(id)", variant: "", etag: nil, contentType: nil, bytes: 1000,
            maxAge: 10)
        let home = Chain(ChainKey(authority: authority, match: "/\(id)"))
        return Version(facts, id: id, rank: rank, home: home, admittedAt: 0, lastWanted: 0)
    }

    private func find(
        _ table: DigestTable, _ body: Body = sampleBody(1), authority: String = "api.example",
        limit: Int = 256, where isUsable: (Version) -> Bool = { _ in true }
    ) -> Version? {
        table.first(digest: body.digest, authority: authority, limit: limit, where: isUsable)
    }

    @Test func `a digest leads to the versions of its authority, and to those of no other`() {
        let table = DigestTable()
        let versions = (1...3).map { version($0) } + [version(4, authority: "other.example")]
        for version in versions { table.insert(version) }
        for version in versions {
            #expect(find(table, authority: version.chain.authority) { $0.id == version.id } === version)
        }
        #expect(find(table) { $0.id == 4 } == nil)
        #expect(find(table, authority: "third.example") == nil)
        #expect(find(table, sampleBody(2)) == nil)
        #expect(find(table, limit: 2) { $0.id > 4 } == nil)
        for version in versions.dropLast() { table.remove(version) }
        #expect(find(table) == nil)
        #expect(find(table, authority: "other.example") === versions[3])
    }

    @Test(arguments: [[1], [1, 2, 3]] as [[Int64]])
    func `a version that takes the place of its row stays when the former goes`(ids: [Int64]) {
        let table = DigestTable()
        let former = ids.map { version($0) }
        for version in former { table.insert(version) }
        let renewed = version(ids[0], rank: 2)
        table.insert(renewed)
        #expect(find(table) { $0.id == ids[0] } === renewed)
        for version in former { table.remove(version) }
        #expect(find(table) === renewed)
        table.remove(renewed)
        #expect(find(table) == nil)
    }
}
