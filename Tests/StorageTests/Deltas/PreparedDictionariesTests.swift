internal import Dictionaries
internal import Storage
internal import TestSupport
internal import Testing

private let mebibyte = 1 << 20

extension PreparedDictionaries {
    /// Uses a dictionary twice, so that it is indexed.
    fileprivate func prepare(_ body: Body, for coding: ContentCoding) throws -> PreparedDictionary? {
        _ = try use(body, for: coding)
        if case .prepared(let prepared) = try use(body, for: coding).dictionary { return prepared }
        return nil
    }
}

extension PreparedUse {
    fileprivate var isPrepared: Bool {
        if case .prepared = dictionary { true } else { false }
    }
}

extension Optional<DictionaryUse> {
    fileprivate var name: String {
        switch self {
        case nil: "none"
        case .prepared: "prepared"
        case .reference: "reference"
        }
    }
}

@Suite(.timeLimit(.minutes(40))) struct PreparedDictionariesTests {
    @Test(arguments: [ContentCoding.dcb, .dcz])
    func `a dictionary goes by reference first, is indexed on its second use, and found from then on`(
        coding: ContentCoding
    ) throws {
        let cache = PreparedDictionaries(bytesMax: 64 * mebibyte)
        let dictionary = Corpus.smallFeed.dictionary
        let uses = try (0..<3).map { _ in try cache.use(Body(dictionary.bytes), for: coding) }
        #expect(uses.map(\.isPrepared) == [false, true, true])
        #expect(uses.map(\.isFirst) == [false, true, false])
        guard case .prepared(let first) = uses[1].dictionary, case .prepared(let second) = uses[2].dictionary
        else {
            Issue.record("not indexed")
            return
        }
        #expect(first === second)
        #expect(first.coding == coding)
        let statistics = cache.statistics
        #expect((statistics.references, statistics.indexed, statistics.hits) == (1, 1, 1))
        #expect(!cache.isReady(dictionary, for: coding == .dcb ? .dcz : .dcb, in: .public))
    }

    @Test(arguments: [ContentCoding.dcb, .dcz])
    func `a built dictionary is indexed on its first use, and never goes to a loop before`(
        coding: ContentCoding
    ) throws {
        let cache = PreparedDictionaries(bytesMax: 64 * mebibyte)
        let dictionary = Corpus.smallFeed.dictionary
        #expect(cache.quick(dictionary, for: coding, in: .built).name == "none")
        let uses = try (0..<2).map { _ in try cache.use(dictionary, for: coding, in: .built) }
        #expect(uses.map(\.isPrepared) == [true, true] && uses.map(\.isFirst) == [true, false])
        #expect(cache.quick(dictionary, for: coding, in: .built).name == "prepared")
        #expect(!cache.isReady(dictionary, for: coding, in: .public), "its index is another one")
    }

    @Test func `dcz over a built dictionary is shorter, since it searches longer`() throws {
        let deltas = Deltas(preparedBytes: 64 * mebibyte, cacheBytes: 0)
        let noise = { (number: Int) in Digest(of: "\(number)".utf8.span).hex }
        let item = { (number: Int) in
            (0..<40).map { part in
                #"{"id":\#(number),"name":"\#(noise(part * number % 50).prefix(12))","of":"\#(noise(part).prefix(8))"}"#
            }.joined()
        }
        let dictionary = Body(Array((1...8).map(item).joined().utf8))
        let bytes = try [DeltaScope.public, .built].map { scope in
            try (101...120).reduce(0) { (sum: Int, number: Int) throws -> Int in
                let body = Body(Array(item(number).utf8))
                // The second use has an index in both scopes.
                _ = deltas.make(body, over: dictionary, .dcz, in: scope)
                guard case .coded(let delta) = deltas.make(body, over: dictionary, .dcz, in: scope) else {
                    throw CodingError(.dcz, .encode, "no delta")
                }
                return sum + delta.bytes.count
            }
        }
        #expect(bytes[1] * 100 < bytes[0] * 97, "\(bytes)")
    }

    @Test(arguments: [ContentCoding.dcb, .dcz])
    func `an index counts with what the library says, and with the body it refers to`(
        coding: ContentCoding
    ) throws {
        let cache = PreparedDictionaries(bytesMax: 64 * mebibyte)
        let dictionary = Corpus.smallFeed.dictionary
        let prepared = try #require(try cache.prepare(dictionary, for: coding))
        #expect(prepared.memoryBytes > dictionary.count)
        let counted = cache.statistics.bytes - prepared.memoryBytes - dictionary.count
        #expect((1...1024).contains(counted), "and a little for the entry itself")
    }

    @Test func `the budget holds an index of exactly its size, and none of a byte more`() throws {
        let dictionary = Corpus.smallFeed.dictionary
        let roomy = PreparedDictionaries(bytesMax: 64 * mebibyte)
        _ = try roomy.prepare(dictionary, for: .dcz)
        let size = roomy.statistics.bytes
        for (budget, isKept) in [(size, true), (size - 1, false)] {
            let cache = PreparedDictionaries(bytesMax: budget)
            #expect(try cache.prepare(dictionary, for: .dcz) != nil)
            #expect(cache.isReady(dictionary, for: .dcz, in: .public) == isKept)
            #expect(cache.statistics.bytes == (isKept ? size : 0))
        }
    }

    @Test func `an index that fits nowhere is not made again`() throws {
        let cache = PreparedDictionaries(bytesMax: 1000)
        let dictionary = Corpus.smallFeed.dictionary
        let uses = try (0..<6).map { _ in try cache.use(dictionary, for: .dcz).isPrepared }
        #expect(uses == [false, true, false, false, false, false])
        #expect(cache.statistics.indexed == 1)
        #expect(cache.quick(dictionary, for: .dcz, in: .public).name == "reference", "on a loop, too")
    }

    @Test func `the dictionary used longest ago goes when the budget is used up`() throws {
        let bodies = (0..<3).map { Body(Feed.bytes(version: $0, items: 40)) }
        let each = try PreparedDictionary(bodies[0], for: .dcz).memoryBytes + bodies[0].count
        // The budget is for two dictionaries and a little more, but not for a third.
        let cache = PreparedDictionaries(bytesMax: each * 5 / 2)
        _ = try cache.prepare(bodies[0], for: .dcz)
        _ = try cache.prepare(bodies[1], for: .dcz)
        _ = try cache.use(bodies[0], for: .dcz)
        _ = try cache.prepare(bodies[2], for: .dcz)
        #expect(bodies.map { cache.isReady($0, for: .dcz, in: .public) } == [true, false, true])
        #expect(cache.statistics.bytes <= each * 5 / 2)
        #expect(cache.statistics.evictions == 1)
        #expect(try !cache.use(bodies[1], for: .dcz).isPrepared, "evicted: by reference first, as a new one")
    }

    @Test(arguments: [ContentCoding.dcb, .dcz])
    func `a dictionary of more than a MiB goes by reference`(coding: ContentCoding) throws {
        let cache = PreparedDictionaries(bytesMax: 64 * mebibyte)
        let limit = mebibyte
        let (fits, exceeds) = (
            Body([UInt8](repeating: 7, count: limit)), Body([UInt8](repeating: 7, count: limit + 1))
        )
        #expect(try cache.prepare(fits, for: coding) != nil)
        #expect(try cache.prepare(exceeds, for: coding) == nil)
        if coding.isQuickByReference {
            #expect(cache.quick(exceeds, for: coding, in: .public).name == "reference", "on a loop, too")
        }
    }

    @Test func `an index of one chain is found by no other chain and not by the public`() throws {
        let cache = PreparedDictionaries(bytesMax: 64 * mebibyte)
        let dictionary = Corpus.smallFeed.dictionary
        let (own, other) = (DeltaScope.private(chain: [1, 2, 3]), DeltaScope.private(chain: [1, 2]))
        for _ in 0..<2 { _ = try cache.use(dictionary, for: .dcz, in: own) }
        #expect(cache.isReady(dictionary, for: .dcz, in: own))
        for scope in [other, .public] {
            #expect(!cache.isReady(dictionary, for: .dcz, in: scope))
            #expect(cache.quick(dictionary, for: .dcz, in: scope).name == "reference")
        }
        // A use elsewhere does not count as a first use here.
        #expect(cache.statistics.references == 3)
    }

    @Test func `an event loop gets an index that is there, and is never asked to make one`() throws {
        let cache = PreparedDictionaries(bytesMax: 64 * mebibyte)
        let dictionary = Corpus.smallFeed.dictionary
        let quick = { cache.quick(dictionary, for: $0, in: .public).name }
        #expect(quick(.dcz) == "reference")
        #expect(quick(.dcz) == "none", "the second use is for indexing")
        #expect(quick(.dcb) == "none", "a reference is indexing, too")
        #expect(try cache.use(dictionary, for: .dcz).isFirst)
        #expect(quick(.dcz) == "prepared")
        #expect(try cache.prepare(dictionary, for: .dcb) != nil)
        #expect(quick(.dcb) == "prepared")
        #expect(cache.statistics.hits == 2 && cache.statistics.references == 2)
    }

    @Test(arguments: [ContentCoding.dcb, .dcz])
    func `a hundred that want one dictionary at once index it once`(coding: ContentCoding) async throws {
        let cache = PreparedDictionaries(bytesMax: 64 * mebibyte)
        let corpus = Corpus.largeFeed
        _ = try cache.use(corpus.dictionary, for: coding)
        try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<100 {
                group.addTask {
                    let use = try cache.use(corpus.dictionary, for: coding).dictionary
                    return try Codec.encode(
                        corpus.body.span, coding, options: EncoderOptions(dictionary: use))
                }
            }
            for try await coded in group { #expect(try corpus.decoded(coded, coding) == corpus.body) }
        }
        let statistics = cache.statistics
        #expect(statistics.indexed == 1)
        #expect(statistics.hits + statistics.shared == 99)
    }

    @Test func `eight threads find, index and evict dictionaries at once`() async throws {
        let cache = PreparedDictionaries(bytesMax: 4 * mebibyte)
        let corpus = Corpus.smallFeed
        let others = (0..<4).map { Body(Feed.bytes(version: $0, items: 40)) }
        try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for index in 0..<64 {
                group.addTask {
                    _ = try cache.use(others[index % others.count], for: .dcb)
                    let use = try cache.use(corpus.dictionary, for: .dcz).dictionary
                    return try Codec.encode(corpus.body.span, .dcz, options: EncoderOptions(dictionary: use))
                }
            }
            for try await coded in group { #expect(try corpus.decoded(coded, .dcz) == corpus.body) }
        }
        #expect(cache.statistics.bytes <= 4 * mebibyte)
    }
}
