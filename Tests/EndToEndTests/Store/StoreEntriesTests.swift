internal import Dictionaries
internal import Foundation
internal import Storage
internal import TestSupport
internal import Testing

@testable internal import dictum

/// `dictum store` prints chains and versions, and finds the digests that an argument stands for.
@Suite(.timeLimit(.minutes(40))) struct StoreEntriesTests {
    @Test func `a chain and its versions say when they came, when one was wanted last, and which are used`()
        throws
    {
        let now = Int(Date.now.timeIntervalSince1970)
        let store = try FilledStore()
        try store.admit([1, 2], path: "/a", now: now - 500)
        try store.admit([3], path: "/b", now: now - 500, isUpstreamMatch: true)
        try store.sqlite(
            "UPDATE version SET last_wanted = \(now - 100) WHERE etag = 'tag1';"
                + "UPDATE chain SET scope = 'unlisted' WHERE \"match\" = '/b'")
        let catalogue = try StoreCatalogue(path: store.path)
        defer { catalogue.close() }
        let chains = try catalogue.versions().byChain
        try #require(chains.count == 2)
        let (admitted, wanted) = (OutputFormat.time(now - 500), OutputFormat.time(now - 100))
        let bytes = FilledStore.body(1).count + FilledStore.body(2).count
        let chain = ChainEntry(chains[0], isCurrent: nil)
        #expect(
            chain.cells.joined(separator: " ") == "api.test /a 2 \(OutputFormat.size(bytes)) \(wanted) ?")
        #expect(chain.scope == "public" && ChainEntry(chains[1], isCurrent: nil).scope == "unlisted")
        let used = [[], [1], [1, 2]].map { (numbers: [Int]) -> String? in
            let digests = numbers.map { FilledStore.body($0).digest }
            return ChainEntry(chains[0]) { digests.contains($0.digest) }.cells.last
        }
        #expect(used == ["no", "1", "yes"])
        let first = try #require(chains[0].first)
        let entry = VersionEntry(first) { _ in false }
        let digest = FilledStore.body(1).digest.hex
        #expect(
            entry.cells.joined(separator: " ")
                == "\(digest.prefix(16)) api.test /a \(first.bytes) B \(admitted) \(wanted) no")
        #expect(!entry.lines.contains("named by the upstream"))
        let third = try #require(chains[1].first)
        #expect(VersionEntry(third, isCurrent: nil).lines.contains("/b (named by the upstream)"))
    }

    // MARK: Digests

    @Test func `a digest may be given by four digits and up to all 64, in capitals too`() throws {
        let digest = FilledStore.body(1).digest
        let hex = digest.hex
        for text in [String(hex.prefix(4)), hex, hex.uppercased()] {
            #expect(try DigestArgument(argument: text).choose(among: [digest, digest], in: "x") == digest)
        }
        for text in [String(hex.prefix(3)), hex + "0", "abcg", "abc/", "abc:"] {
            #expect(throws: (any Error).self, "\(text)") { try DigestArgument(argument: text) }
        }
    }

    @Test(arguments: [8, 9])
    func `of the digests that begin alike eight are listed, and that there are more`(count: Int) throws {
        let digests = try (0..<count).map { number in
            try #require(Digest(hex: "abcd" + String(repeating: "\(number)", count: 60)))
        }
        let argument = try DigestArgument(argument: "abcd")
        let error = #expect(throws: CommandError.self) { try argument.choose(among: digests, in: "x") }
        let text = error?.description ?? ""
        #expect(text.contains("\(count) digests begin with it"), "\(text)")
        #expect(digests.count(where: { text.contains($0.hex) }) == 8, "\(text)")
        #expect(text.hasSuffix(", …") == (count > 8), "\(text)")
    }
}
