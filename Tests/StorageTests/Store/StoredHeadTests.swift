import Testing

@testable import Dictionaries
@testable import Storage

/// The heads that stand with stored bodies, and their memory.
@Suite struct StoredHeadTests {
    private let memory = HeadMemory(bytesMax: 300)

    @Test func `a head takes three times its bytes, until it is replaced, cleared or gone`() throws {
        do {
            let head = try #require(StoredHead([1, 2, 3], memory: memory))
            #expect(memory.bytes == 9)
            #expect(head.replace([1, 2, 3, 4], now: 100))
            #expect(memory.bytes == 12 && head.bytes == [1, 2, 3, 4])
            head.clear()
            #expect(memory.bytes == 0 && head.bytes == nil)
            _ = head.replace([5], now: 200)
            #expect(memory.bytes == 3 && head.bytes == [5])
        }
        #expect(memory.bytes == 0)
    }

    private final class Reading: Sendable {
        let bytes: [UInt8]
        init(_ bytes: [UInt8]) { self.bytes = bytes }
    }

    @Test func `a head is read once, anew when it is replaced, and not after it has gone`() throws {
        let head = try #require(StoredHead([1], memory: memory))
        func read() -> Reading? { head.reading { Reading($0) } }
        let first = try #require(read())
        let second = try #require(read())
        #expect(first === second)
        _ = head.replace([2], now: 100)
        #expect(read()?.bytes == [2])
        head.clear()
        #expect(read() == nil)
    }

    @Test func `heads count with the memory of the store`() throws {
        let store = try DictionaryStore.open(":memory:")
        try store.admission.admit(
            VersionCandidate(
                sampleBody(1), key: VersionKey(chain: feedChain, url: "/feed", variant: ""),
                policy: AdmissionPolicy(), head: [UInt8](repeating: 1, count: 10)), now: 1000)
        #expect(store.statistics.memoryBytes == 1256 + 30)
    }

    @Test(arguments: [("de", 1), ("en", 2), ("fr", nil)] as [(String, UInt8?)])
    func `of the variants of a URL the one that fits is found, also behind a newer one`(
        language: String, head: UInt8?
    ) throws {
        let store = try DictionaryStore.open(":memory:")
        for (number, language) in [(1, "de"), (2, "en")] {
            let variant = VariantKey.make(names: ["accept-language"]) { _ in Array(language.utf8) }
            try store.admission.admit(
                VersionCandidate(
                    sampleBody(number), key: VersionKey(chain: feedChain, url: "/feed", variant: variant),
                    policy: AdmissionPolicy(), head: [UInt8(number)]), now: 1000 + number)
        }
        let found = store.reader().newestWithHead(
            chain: feedChain, url: "/feed", values: { _ in Array(language.utf8) })
        #expect(found?.head?.bytes?.first == head)
    }

    @Test func `a body that returns under another entity tag does not keep its head`() throws {
        let store = try DictionaryStore.open(":memory:")
        func admit(etag: String, head: [UInt8]?) throws -> Version {
            try store.admission.admit(
                VersionCandidate(
                    sampleBody(1), key: VersionKey(chain: feedChain, url: "/feed", variant: ""),
                    policy: AdmissionPolicy(), etag: etag, head: head), now: 1000)
        }
        _ = try admit(etag: "1", head: [1, 2])
        #expect(try admit(etag: "2", head: nil).head?.bytes == nil)
    }

    @Test func `a head that has no room is not kept, and takes none`() throws {
        let head = try #require(StoredHead([UInt8](repeating: 1, count: 60), memory: memory))
        #expect(StoredHead([UInt8](repeating: 1, count: 41), memory: memory) == nil)
        #expect(StoredHead([UInt8](repeating: 1, count: StoredHead.bytesMax + 1), memory: memory) == nil)
        #expect(!head.replace([UInt8](repeating: 2, count: 101), now: 100))
        #expect(memory.bytes == 180 && head.bytes?.count == 60)
    }

    @Test func `a head that was refused does not come back`() throws {
        let head = try #require(StoredHead([1], memory: memory))
        head.refuse()
        #expect(!head.replace([2], now: 100) && head.bytes == nil && memory.bytes == 0)
    }

    @Test(arguments: [(160, false), (161, true), (99, true)])
    func `a head is written at most once a minute, and once a clock was set back`(now: Int, isDue: Bool)
        throws
    {
        let head = try #require(StoredHead([1], memory: memory, now: 100))
        #expect(head.replace([2], now: now) == isDue)
        #expect(head.bytes == [2], "in memory it is the newest at once")
        #expect(!head.replace([2], now: now + 1000), "the same again is no change")
    }

    @Test func `a head makes room for the one that replaces it`() throws {
        let head = try #require(StoredHead([1, 2], memory: HeadMemory(bytesMax: 6)))
        _ = head.replace([3, 4], now: 100)
        #expect(head.bytes == [3, 4])
    }
}
