import Testing

@testable import Dictionaries

@Suite struct TwinsTests {
    private func version(_ id: Int64, _ body: Body = sampleBody(1), scope: ChainKey.Scope = .public)
        -> Version
    {
        let facts = VersionFacts(
            digest: body.digest, url: "/\(id)", variant: "", etag: nil, contentType: nil, bytes: 1000,
            maxAge: 10)
        let home = Chain(ChainKey(authority: "api.example", scope: scope, match: "/\(id)"))
        return Version(facts, id: id, rank: id, home: home, admittedAt: 0, lastWanted: 0)
    }

    @Test func `each is the twin of the others with its body, and of nobody else`() {
        var twins = Twins()
        let versions = (1...4).map { version($0) }
        for version in versions { twins.insert(version) }
        twins.insert(version(5, sampleBody(2)))
        for version in versions {
            #expect(Set(twins.twins(of: version)) == Set([1, 2, 3, 4]).subtracting([version.id]))
        }
        #expect(twins.twins(of: version(5, sampleBody(2))) == [])
        #expect(twins.twins(of: version(6, sampleBody(3))) == [])
    }

    @Test(arguments: [[1, 2, 3], [3, 2, 1], [2, 1, 3], [2, 3, 1]] as [[Int64]])
    func `those that are left stay twins, whichever goes first`(order: [Int64]) {
        var twins = Twins()
        for id in 1...3 { twins.insert(version(Int64(id))) }
        var left: Set<Int64> = [1, 2, 3]
        for id in order {
            twins.remove(version(id))
            left.remove(id)
            #expect(Set(twins.twins(of: version(9))) == left)
        }
        twins.remove(version(1))
        #expect(twins.twins(of: version(9)) == [])
    }

    @Test func `one that was noted twice goes at once`() {
        var twins = Twins()
        for id in [1, 2, 1, 2] as [Int64] { twins.insert(version(id)) }
        twins.remove(version(2))
        #expect(twins.twins(of: version(9)) == [1])
    }

    @Test func `a private version has no twin and is nobody's`() throws {
        var twins = Twins()
        let keys = try PrivateStore.keys()
        let tag = try #require(keys.identityTag(authority: "api.example", items: []))
        twins.insert(version(1, scope: .private(tag)))
        #expect(twins.twins(of: version(2)) == [])
        twins.insert(version(2))
        #expect(twins.twins(of: version(1, scope: .private(tag))) == [])
        #expect(twins.twins(of: version(3, scope: .private(tag))) == [])
        twins.remove(version(2, scope: .private(tag)))
        #expect(twins.twins(of: version(3)) == [2])
    }

    @Test func `of a body that very many versions have few are named`() {
        var twins = Twins()
        for id in 1...1000 { twins.insert(version(Int64(id))) }
        #expect(twins.twins(of: version(1)).count <= 32)
        #expect(twins.twins(of: version(1001)).count <= 33)
    }
}
