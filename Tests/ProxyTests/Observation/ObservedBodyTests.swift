internal import Testing

@testable import Proxy

/// The memory that copies of observed bodies borrow.
struct ObservedBodyTests {
    private let budget = MemoryBudget(bytes: 1 << 20)

    /// Copies pieces of so many bytes; returns nil once one is refused.
    private func copy(_ pieces: [Int], bytesMax: Int = 200_000) -> ObservedBody? {
        var copy = ObservedBody.Copy(nil, bytesMax: bytesMax, memory: MemoryShare(of: budget))
        for count in pieces {
            let piece = [UInt8](repeating: 7, count: count)
            guard copy.append(piece.span) else { return nil }
        }
        return copy.take()
    }

    @Test func `a body borrows memory in steps, and gives all of it back, once`() {
        var body = copy([70_000, 10, 10])
        #expect(budget.takenBytes == 70_000 + 65_536)
        #expect(body?.bytes.count == 70_020)
        body = nil
        #expect(budget.takenBytes == 0)
    }

    @Test func `a body may have all bytes that are allowed; a longer one borrows nothing`() {
        var body = copy([150_000, 50_000])
        #expect(body?.bytes.count == 200_000)
        #expect(body?.decoded(bytesMax: 200_000)?.count == 200_000)
        #expect(body?.decoded(bytesMax: 199_999) == nil)
        body = nil
        #expect(copy([150_000, 50_001]) == nil)
        #expect(budget.takenBytes == 0)
    }

    @Test func `a body for which there is no memory is not copied, and borrows nothing`() {
        #expect(copy([1 << 19, 1 << 19, 1], bytesMax: 1 << 21) == nil)
        #expect(budget.takenBytes == 0)
    }
}
