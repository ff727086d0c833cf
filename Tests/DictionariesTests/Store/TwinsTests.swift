import Testing

@testable import Dictionaries

@Suite struct TwinsTests {
    private func version(
        _ id: Int64, _ body: Body = sampleBody(1), scope: ChainKey.Scope = .public,
        authority: String = "api.example"
    ) -> Version {
        let facts = VersionFacts(
            digest: body.digest, url: "/\(id)", variant: "", etag: nil, contentType: nil, bytes: 1000,
            maxAge: 10)
        let home = Chain(ChainKey(authority: authority, scope: scope, match: "/\(id)"))
        return Version(facts, id: id, rank: id, home: home, admittedAt: 0, lastWanted: 0)
    }

    @Test func `each is the twin of the others with its body, and of nobody else`() {
        let table = DigestTable()
        let versions = (1...4).map { version($0) }
        for version in versions { table.insert(version) }
        table.insert(version(5, sampleBody(2)))
        for version in versions {
            #expect(Set(table.twins(of: version)) == Set([1, 2, 3, 4]).subtracting([version.id]))
        }
        #expect(table.twins(of: version(5, sampleBody(2))) == [])
        #expect(table.twins(of: version(6, sampleBody(3))) == [])
    }

    @Test(arguments: [[1, 2, 3], [3, 2, 1], [2, 1, 3], [2, 3, 1]] as [[Int64]])
    func `those that are left stay twins, whichever goes first`(order: [Int64]) {
        let table = DigestTable()
        let versions = (1...3).map { self.version($0) }
        for version in versions { table.insert(version) }
        var left: Set<Int64> = [1, 2, 3]
        for id in order {
            table.remove(versions[Int(id) - 1])
            left.remove(id)
            #expect(Set(table.twins(of: version(9))) == left)
        }
        table.remove(versions[0])
        #expect(table.twins(of: version(9)) == [])
    }

    @Test func `of two objects of one row the later is the twin`() {
        let table = DigestTable()
        let versions = [1, 2, 1, 2].map { self.version($0) }
        for version in versions { table.insert(version) }
        #expect(Set(table.twins(of: version(9))) == [1, 2])
        table.remove(versions[1])
        table.remove(versions[3])
        #expect(table.twins(of: version(9)) == [1])
    }

    @Test func `twins are so across authorities, and one of them is found without the other`() {
        let table = DigestTable()
        let (here, there) = (version(1), version(2, authority: "other.example"))
        table.insert(here)
        table.insert(there)
        #expect(table.twins(of: here) == [2])
        #expect(table.twins(of: there) == [1])
        table.remove(here)
        #expect(table.twins(of: here) == [2])
    }

    @Test func `a private version has no twin and is nobody's`() throws {
        let table = DigestTable()
        let keys = try PrivateStore.keys()
        let tag = try #require(keys.identityTag(authority: "api.example", items: []))
        table.insert(version(1, scope: .private(tag)))
        #expect(table.twins(of: version(2)) == [])
        table.insert(version(2))
        #expect(table.twins(of: version(1, scope: .private(tag))) == [])
        #expect(table.twins(of: version(3, scope: .private(tag))) == [])
        #expect(table.twins(of: version(3)) == [2])
    }

    @Test func `of a body that very many versions have few are named`() {
        let table = DigestTable()
        for id in 1...1000 { table.insert(version(Int64(id))) }
        #expect(table.twins(of: version(1)).count == 8)
        let others = table.twins(of: version(1001))
        #expect(others.count == 9 && Set(others).count == 9)
        #expect(others.first == 1, "the one that has been there the longest is most likely on disk")
    }
}
