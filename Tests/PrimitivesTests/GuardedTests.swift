import Dispatch
import Primitives
import Testing

@Suite struct GuardedTests {
    private struct Table: ~Copyable, Sendable {
        var counts = InlineArray<2, Int>(repeating: 0)
    }

    @Test func `a mirror sees nothing of a guarded value, so that a failed expectation can print its owner`()
    {
        #expect(Mirror(reflecting: Guarded([1])).children.isEmpty)
        #expect(Mirror(reflecting: Guarded(Table())).children.isEmpty)
    }

    @Test func `no change is lost between threads`() {
        let sum = Guarded(0)
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<1_000 { sum.withLock { $0 += 1 } }
        }
        #expect(sum.withLock { $0 } == 8_000)
    }

    @Test func `an error leaves the lock open`() {
        let value = Guarded(1)
        #expect(throws: CancellationError.self) {
            try value.withLock { (_: inout Int) throws(CancellationError) in throw CancellationError() }
        }
        #expect(value.withLock { $0 } == 1)
    }
}
