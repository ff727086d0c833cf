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
}
