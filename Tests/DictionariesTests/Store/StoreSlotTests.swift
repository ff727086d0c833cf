import Testing

@testable import Dictionaries

@Suite struct StoreSlotTests {
    @Test func `copies being admitted are bounded by the memory and refused beyond it`() throws {
        let store = try DictionaryStore.open(":memory:", memoryBytes: 10_000)
        let first = store.reserve(chain: feedChain, bytes: 6000)
        #expect(first != nil)
        #expect(store.reserve(chain: feedChain, bytes: 4001) == nil)
        let second = store.reserve(chain: feedChain, bytes: 4000)
        #expect(second != nil)
        first?.release()
        first?.release()
        #expect(store.statistics.memoryBytes == 4000)
    }

    @Test func `a slot that is dropped gives its place back`() throws {
        let store = try DictionaryStore.open(":memory:", memoryBytes: 10_000)
        do {
            let slot = store.reserve(chain: feedChain, bytes: 10_000)
            #expect(slot != nil)
        }
        #expect(store.statistics.memoryBytes == 0)
        #expect(store.reserve(chain: feedChain, bytes: 10_000) != nil)
    }

    @Test func `a slot of unknown length grows until there is no place`() throws {
        let store = try DictionaryStore.open(":memory:", memoryBytes: 1_000_000)
        let slot = try #require(store.reserve(chain: feedChain, bytes: nil))
        #expect(slot.extend(to: 1))
        #expect(slot.extend(to: 999_999))
        #expect(slot.extend(to: 1_000_000))
        #expect(!slot.extend(to: 1_000_001))
        #expect(store.statistics.memoryBytes == 1_000_000)
        slot.release()
        #expect(store.statistics.memoryBytes == 0)
    }

    @Test func `a body too large for the store has no slot`() throws {
        let store = try DictionaryStore.open(":memory:", maxBytes: 4_000_000)
        #expect(store.reserve(chain: feedChain, bytes: 1_000_001) == nil)
        #expect(store.reserve(chain: feedChain, bytes: 1_000_000) != nil)
    }
}
