import Testing

@testable import Dictionaries
@testable import Storage

@Suite struct SiblingsTests {
    private func version(
        _ id: Int64, _ body: Body = sampleBody(1), scope: ChainKey.Scope = .public,
        authority: String = "api.example", rank: Int64? = nil
    ) -> Version {
        let facts = VersionFacts(
            digest: body.digest, url: "/\(id)", bytes: 1000,
            maxAge: 10)
        let home = Chain(ChainKey(authority: authority, scope: scope, match: "/\(id)"))
        return Version(
            facts, id: id, rank: rank ?? id, chain: home, .held(at: 0))
    }

    @Test func `each is the sibling of the others with its body, and of nobody else`() {
        let index = DictionaryIndex(inUseMax: 0)
        let versions = (1...4).map { version($0) }
        for version in versions { index.insert(version) }
        index.insert(version(5, sampleBody(2)))
        for version in versions {
            #expect(Set(index.siblings(of: version)) == Set([1, 2, 3, 4]).subtracting([version.id]))
        }
        #expect(index.siblings(of: version(5, sampleBody(2))) == [])
        #expect(index.siblings(of: version(6, sampleBody(3))) == [])
    }

    @Test(arguments: [[1, 2, 3], [3, 2, 1], [2, 1, 3], [2, 3, 1]] as [[Int64]])
    func `those that are left stay siblings, whichever goes first`(order: [Int64]) {
        let index = DictionaryIndex(inUseMax: 0)
        let versions = (1...3).map { self.version($0) }
        for version in versions { index.insert(version) }
        var left: Set<Int64> = [1, 2, 3]
        for id in order {
            _ = index.remove(versions[Int(id) - 1])
            left.remove(id)
            #expect(Set(index.siblings(of: version(9))) == left)
        }
        _ = index.remove(versions[0])
        #expect(index.siblings(of: version(9)) == [])
    }

    @Test func `a version whose body returned is the sibling that it was`() {
        let index = DictionaryIndex(inUseMax: 0)
        let versions = [1, 2].map { self.version($0) }
        for version in versions { index.insert(version) }
        _ = index.replace(versions[1], by: version(2, rank: 7))
        #expect(Set(index.siblings(of: version(9))) == [1, 2])
        _ = index.remove(versions[0])
        #expect(index.siblings(of: version(9)) == [2])
    }

    @Test func `siblings are so across authorities, and one of them is found without the other`() {
        let index = DictionaryIndex(inUseMax: 0)
        let (here, there) = (version(1), version(2, authority: "other.example"))
        index.insert(here)
        index.insert(there)
        #expect(index.siblings(of: here) == [2])
        #expect(index.siblings(of: there) == [1])
        _ = index.remove(here)
        #expect(index.siblings(of: here) == [2])
    }

    @Test func `a private version has no sibling and is nobody's`() throws {
        let index = DictionaryIndex(inUseMax: 0)
        let keys = try PrivateStore.keys()
        let tag = try #require(keys.identityTag(authority: "api.example", items: []))
        index.insert(version(1, scope: .private(tag)))
        #expect(index.siblings(of: version(2)) == [])
        index.insert(version(2))
        #expect(index.siblings(of: version(1, scope: .private(tag))) == [])
        #expect(index.siblings(of: version(3, scope: .private(tag))) == [])
        #expect(index.siblings(of: version(3)) == [2])
    }

    @Test func `of a body that very many versions have few are named`() {
        let index = DictionaryIndex(inUseMax: 0)
        for id in 1...1000 { index.insert(version(Int64(id))) }
        #expect(index.siblings(of: version(1)).count == 8)
        let others = index.siblings(of: version(1001))
        #expect(others.count == 9 && Set(others).count == 9)
        #expect(others.first == 1, "the one that has been there the longest is most likely on disk")
    }
}
