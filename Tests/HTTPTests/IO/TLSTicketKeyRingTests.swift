import Testing

@testable import HTTP

@Suite struct TLSTicketKeyRingTests {
    private func key(_ number: UInt8, _ now: Int64) -> TLSTicketKey {
        TLSTicketKey(name: Array(repeating: number, count: 16), cipher: [], code: [], began: now)
    }

    @Test func `a key makes tickets for its period, and opens them for two more`() throws {
        var ring = TLSTicketKeyRing(periodMilliseconds: 100)
        let first = try #require(ring.current(now: 0) { key(1, $0) })
        #expect(ring.current(now: 99) { key(2, $0) } == first)
        #expect(ring.find(first.name, now: 99)?.isCurrent == true)
        #expect(ring.current(now: 100) { key(2, $0) }?.name == key(2, 0).name)
        #expect(ring.find(first.name, now: 100)?.isCurrent == false)
        #expect(ring.current(now: 200) { key(3, $0) }?.name == key(3, 0).name)
        #expect(ring.find(first.name, now: 299)?.key == first)
        #expect(ring.find(first.name, now: 300) == nil)
        #expect(ring.find(key(3, 0).name, now: 300)?.isCurrent == false)
    }

    @Test func `a key whose time has passed opens nothing, though nobody asked for another`() throws {
        var ring = TLSTicketKeyRing(periodMilliseconds: 100)
        let first = try #require(ring.current(now: 0) { key(1, $0) })
        #expect(ring.find(first.name, now: 150)?.isCurrent == false)
        #expect(ring.find(first.name, now: 1_000) == nil)
        #expect(ring.keys.isEmpty)
    }

    @Test func `without random bytes there is no key, and the former ones stay`() throws {
        var ring = TLSTicketKeyRing(periodMilliseconds: 100)
        #expect(ring.current(now: 0) { _ in nil } == nil)
        let first = try #require(ring.current(now: 0) { key(1, $0) })
        #expect(ring.current(now: 100) { _ in nil } == nil)
        #expect(ring.find(first.name, now: 100)?.key == first)
    }

    @Test func `keys are random, and each has a name of its own`() throws {
        let keys = try (0..<10).map { _ in try #require(TLSTicketKey.random(now: 0)) }
        #expect(Set(keys.map(\.name)).count == 10)
        #expect(keys.allSatisfy { $0.name.count == 16 && $0.cipher.count == 32 && $0.code.count == 32 })
    }
}
