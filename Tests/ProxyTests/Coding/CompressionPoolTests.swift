internal import Dispatch
internal import HTTP
internal import Primitives
internal import TestSupport
internal import Testing

@testable import Proxy

/// The waiting jobs are limited in bytes, not in number.
@Suite(.timeLimit(.minutes(40))) struct CompressionPoolTests {
    private let pool = CompressionPool(width: 1)
    private let gate = Gate()

    /// Submits a job that ends when the gate opens; returns whether it was accepted.
    private func submitBlocking(bytes: Int) -> Bool {
        pool.submit(bytes: bytes) { [gate] in _ = gate.wait() }
    }

    @Test func `a job is refused when the bytes that wait would pass 16 MiB`() throws {
        #expect(submitBlocking(bytes: 1))
        #expect(pool.submit(bytes: 8 << 20) {})
        #expect(!pool.submit(bytes: 8 << 20) {}, "64 KiB of the running job count too")
        #expect(pool.submit(bytes: (8 << 20) - (64 << 10)) {}, "the bound itself is allowed")
        #expect(!pool.submit(bytes: 1) {})
        gate.open()
        try waitUntil("everything has run") { pool.waitingBytes == 0 }
    }

    @Test func `a job goes to the queue with the fewest bytes`() throws {
        let (pool, ran) = (CompressionPool(width: 2), Gate())
        // It stays for longer than the other job is waited for.
        let held = pool.submit(bytes: 1) { [gate] in _ = gate.wait(seconds: 120) }
        #expect(held)
        #expect(pool.submit(bytes: 1) { ran.open() })
        #expect(ran.wait())
        gate.open()
        try waitUntil("everything has run") { pool.waitingBytes == 0 }
    }

    @Test func `a small job counts 64 KiB, so that their number is bounded too`() throws {
        #expect(submitBlocking(bytes: 1))
        let accepted = (0..<1000).filter { _ in pool.submit(bytes: 1) {} }.count
        #expect(accepted == 255)
        gate.open()
        try waitUntil("everything has run") { pool.waitingBytes == 0 }
    }

    @Test func `a larger job finds a place where nothing waits, and a promised one always`() throws {
        #expect(submitBlocking(bytes: 32 << 20))
        #expect(!pool.submit(bytes: 1) {})
        #expect(pool.submit(bytes: 1, mustRun: true) {})
        gate.open()
        try waitUntil("everything has run") { pool.waitingBytes == 0 }
    }

    @Test func `one client gets as much as it leaves to the others`() throws {
        let (greedy, other) = (ClientUse(), ClientUse())
        #expect(submitBlocking(bytes: 1))
        let accepted = (0..<3).map { _ in pool.submit(bytes: 5 << 20, for: greedy) {} }
        #expect(accepted == [true, true, false], "there would be room for a third")
        let isOthersAccepted = pool.submit(bytes: 5 << 20, for: other) {}
        #expect(isOthersAccepted)
        gate.open()
        try waitUntil("everything has run") { pool.waitingBytes == 0 }
    }

    @Test func `nobody waits behind a client with many requests under way`() throws {
        let (crowded, other, ran) = (ClientUse(), ClientUse(), Gate())
        crowded.requests.add(9)
        let held = pool.submit(bytes: 1, for: crowded) { [gate] in _ = gate.wait() }
        #expect(held)
        #expect(pool.submit(bytes: 1, for: other) { ran.open() })
        #expect(ran.wait(), "the only queue of the others is free")
        #expect(crowded.coding.amount == 64 << 10)
        gate.open()
        try waitUntil("everything has run") { pool.waitingBytes == 0 && crowded.coding.amount == 0 }
    }
}
