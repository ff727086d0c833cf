internal import Dictionaries
internal import TestSupport
internal import Testing

@Suite struct PreparedDictionariesTests {
    private static func isPrepared(_ use: DictionaryUse) -> Bool {
        if case .prepared = use { true } else { false }
    }

    @Test(arguments: [ContentCoding.dcb, .dcz])
    func `a dictionary is indexed once for a coding, and used from then on`(coding: ContentCoding) throws {
        let shelf = PreparedDictionaries(bytesMax: 64 << 20)
        let corpus = Corpus.smallFeed
        #expect(shelf.prepared(corpus.dictionary, for: coding) == nil)
        guard case .prepared(let first) = try shelf.use(corpus.dictionary, for: coding),
            case .prepared(let second) = try shelf.use(Body(corpus.dictionary.bytes), for: coding)
        else {
            Issue.record("not indexed")
            return
        }
        #expect(first === second)
        #expect(first.coding == coding)
        #expect(shelf.memoryBytes == first.memoryBytes + corpus.dictionary.count)
        #expect(shelf.prepared(corpus.dictionary, for: coding == .dcb ? .dcz : .dcb) == nil)
    }

    @Test func `the dictionary used longest ago goes when the budget is used up`() throws {
        let bodies = (0..<3).map { Body(Feed.bytes(version: $0, items: 40)) }
        let each = try PreparedDictionary.zstd(bodies[0]).memoryBytes + bodies[0].count
        // Room for two, and a little, but not for a third.
        let shelf = PreparedDictionaries(bytesMax: each * 5 / 2)
        _ = try shelf.use(bodies[0], for: .dcz)
        _ = try shelf.use(bodies[1], for: .dcz)
        _ = shelf.prepared(bodies[0], for: .dcz)
        _ = try shelf.use(bodies[2], for: .dcz)
        #expect(shelf.prepared(bodies[0], for: .dcz) != nil)
        #expect(shelf.prepared(bodies[1], for: .dcz) == nil)
        #expect(shelf.prepared(bodies[2], for: .dcz) != nil)
        #expect(shelf.memoryBytes <= each * 5 / 2)
    }

    @Test func `a dictionary beyond the budget is indexed and not kept`() throws {
        let shelf = PreparedDictionaries(bytesMax: 1000)
        #expect(Self.isPrepared(try shelf.use(Corpus.smallFeed.dictionary, for: .dcz)))
        #expect(shelf.memoryBytes == 0)
    }

    @Test(arguments: [ContentCoding.dcb, .dcz])
    func `a dictionary of more than a MiB goes by reference`(coding: ContentCoding) throws {
        let shelf = PreparedDictionaries(bytesMax: 64 << 20)
        let limit = PreparedDictionaries.dictionaryBytesMax
        #expect(Self.isPrepared(try shelf.use(Body([UInt8](repeating: 7, count: limit)), for: coding)))
        #expect(!Self.isPrepared(try shelf.use(Body([UInt8](repeating: 7, count: limit + 1)), for: coding)))
    }

    @Test func `eight threads find and index dictionaries at once`() async throws {
        let shelf = PreparedDictionaries(bytesMax: 4 << 20)
        let corpus = Corpus.smallFeed
        let others = (0..<4).map { Body(Feed.bytes(version: $0, items: 40)) }
        try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for index in 0..<8 {
                group.addTask {
                    _ = try shelf.use(others[index % others.count], for: .dcb)
                    let use = try shelf.use(corpus.dictionary, for: .dcz)
                    return try Codec.encode(corpus.body.span, .dcz, options: EncoderOptions(dictionary: use))
                }
            }
            for try await coded in group { #expect(try corpus.decoded(coded, .dcz) == corpus.body) }
        }
        #expect(shelf.memoryBytes <= 4 << 20)
    }
}
