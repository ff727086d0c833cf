internal import Dictionaries
internal import Primitives
internal import Testing

@Suite struct GuardedTests {
    private struct Refusal: Error {}

    @Test func `no update is lost between threads`() async {
        let count = Guarded(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<1_000 { count.withLock { $0 += 1 } } }
            }
        }
        #expect(count.withLock { $0 } == 8_000)
    }

    @Test func `an error leaves the lock open`() {
        let value = Guarded(1)
        #expect(throws: Refusal.self) { try value.withLock { (_) throws(Refusal) in throw Refusal() } }
        #expect(value.withLock { $0 } == 1)
    }
}
