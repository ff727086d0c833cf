import Testing

@testable import Dictionaries
@testable import Storage

@Suite struct DigestLookUpTests {
    private func version(
        _ id: Int64, _ body: Body = sampleBody(1), authority: String = "api.example", rank: Int64 = 1
    ) -> Version {
        let facts = VersionFacts(
            digest: body.digest, url: "/\(id)", bytes: 1000,
            maxAge: 10)
        let home = Chain(ChainKey(authority: authority, match: "/\(id)"))
        return Version(facts, id: id, rank: rank, chain: home, .held(at: 0))
    }

    private func find(
        _ index: DictionaryIndex, _ id: Int64, _ body: Body = sampleBody(1), authority: String = "api.example"
    ) -> Version? {
        index.find(digest: body.digest, authority: authority, url: PathAndQuery(path: "/\(id)"))
    }

    @Test func `a digest leads to the versions of its authority, and to those of no other`() {
        let index = DictionaryIndex(inUseMax: 0)
        let versions = (1...3).map { version($0) } + [version(4, authority: "other.example")]
        for version in versions { index.insert(version) }
        for version in versions {
            #expect(find(index, version.id, authority: version.chainKey.authority) === version)
        }
        #expect(find(index, 4) == nil)
        #expect(find(index, 1, authority: "third.example") == nil)
        #expect(find(index, 1, sampleBody(2)) == nil)
        index.insert(version(5, sampleBody(2), authority: "other.example"))
        #expect(find(index, 5, sampleBody(2)) == nil, "nor of a body that one version has")
        for version in versions.dropLast() { _ = index.remove(version) }
        for id in 1...3 { #expect(find(index, Int64(id)) == nil) }
        #expect(find(index, 4, authority: "other.example") === versions[3])
    }

    @Test(arguments: [[1], [1, 2, 3]] as [[Int64]])
    func `a version that takes the place of its row stays when the former goes`(ids: [Int64]) {
        let index = DictionaryIndex(inUseMax: 0)
        let former = ids.map { version($0) }
        for version in former { index.insert(version) }
        let renewed = version(ids[0], rank: 2)
        _ = index.replace(former[0], by: renewed)
        #expect(find(index, ids[0]) === renewed)
        for version in former { _ = index.remove(version) }
        #expect(find(index, ids[0]) === renewed && index.versionCount == 1)
        _ = index.remove(renewed)
        #expect(find(index, ids[0]) == nil && index.versionCount == 0 && index.chainCount == 0)
    }
}
