internal import Dictionaries
internal import Storage
internal import Testing

@testable import Proxy

/// The versions of which a route may learn its dictionary.
struct ProvenRowsTests {
    @Test func `of too many chains the latest half is kept`() throws {
        let store = try DictionaryStore(
            configuration: StoreConfiguration(path: ":memory:", maxBytes: 1 << 30))
        var rows = ProvenRows()
        var ids: [Int64] = []
        for number in 0...ProvenRows.countMax {
            let key = VersionKey(
                chain: ChainKey(authority: "api.test", match: "/\(number)"), url: "/\(number)", variant: "")
            let candidate = VersionCandidate(
                Body(Array("\(number)".utf8)), key: key, policy: AdmissionPolicy())
            let version = try store.admission.admit(candidate, over: nil, now: 1_000)
            rows.note(version)
            ids.append(version.id)
        }
        #expect(rows.newestFirst == ids.suffix(ProvenRows.countMax / 2 + 1).reversed())
    }

    @Test func `a later version takes the place of its chain's former one, and what is gone counts no more`()
        throws
    {
        let store = try DictionaryStore(
            configuration: StoreConfiguration(path: ":memory:", maxBytes: 1 << 30))
        var rows = ProvenRows()
        func note(_ number: Int, _ text: String) throws -> Int64 {
            let key = VersionKey(
                chain: ChainKey(authority: "api.test", match: "/\(number)"), url: "/\(number)", variant: "")
            let candidate = VersionCandidate(Body(Array(text.utf8)), key: key, policy: AdmissionPolicy())
            let version = try store.admission.admit(candidate, over: nil, now: 1_000)
            rows.note(version)
            return version.id
        }
        for number in 0..<ProvenRows.countMax { _ = try note(number, "\(number)") }
        let later = try note(0, "a later version")
        #expect(rows.count == ProvenRows.countMax && rows.newestFirst.first == later)
        let purge = Purge(PurgeOrder(path: "/7")) { _, _, _ in false }
        #expect(store.upkeep.purge([purge]).versions.count == 1)
        rows.keep(in: store.reader())
        #expect(rows.count == ProvenRows.countMax - 1)
    }
}
