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
            let version = try store.admit(candidate, over: nil, now: 1_000)
            rows.note(version)
            ids.append(version.id)
        }
        #expect(rows.newestFirst == ids.suffix(ProvenRows.countMax / 2 + 1).reversed())
    }
}
