import Testing

@testable import HTTP

/// The bytes of a response that wait for frames: in order, and no more of them than their source may leave.
struct ResponseQueueTests {
    private func piece(_ byte: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: byte, count: count) }

    @Test func `pieces of any length go in the order in which they came`() {
        var queue = ResponseQueue()
        var sent: [UInt8] = []
        for (number, length) in [10, 16 * 1024, 3, 16 * 1024, 16 * 1024 + 1, 1, 5000].enumerated() {
            let bytes = piece(UInt8(number), length)
            sent += bytes
            _ = queue.append(bytes.span)
        }
        #expect(queue.count == sent.count)
        var output: [UInt8] = []
        var step = 1
        while !queue.isEmpty {
            let before = queue.count
            queue.move(min(step, before), into: &output)
            #expect(queue.count == before - min(step, before))
            step = step * 2 % 9973 + 1
        }
        let isSame = output == sent
        #expect(isSame)
    }

    @Test func `a source pauses once above 32 KiB, and resumes once at 16 KiB`() {
        var queue = ResponseQueue()
        var output: [UInt8] = []
        let atLimit = queue.append(piece(1, 32 * 1024).span)
        #expect(!atLimit && !queue.isFull)
        let above = queue.append(piece(2, 1).span)
        #expect(above && queue.isFull)
        let again = queue.append(piece(3, 1).span)
        #expect(!again && queue.isFull, "it pauses already")
        queue.move(16 * 1024 + 1, into: &output)
        #expect(queue.endPause() == false)
        queue.move(1, into: &output)
        #expect(queue.endPause() == true)
        #expect(!queue.isFull)
        #expect(queue.endPause() == false)
    }

    @Test func `a borrowed piece goes frame by frame behind what was copied, and its rest is told`() {
        var queue = ResponseQueue()
        var output: [UInt8] = []
        _ = queue.append([1, 2].span)
        let bytes: [UInt8] = [3, 4, 5, 6, 7, 8, 9, 10]
        let rest = unsafe bytes.withUnsafeBufferPointer { piece in
            // Safe: the piece outlives the loan, which ends here.
            unsafe queue.borrow(piece)
            for length in [1, 3, 3] { queue.move(length, into: &output) }
            return queue.endBorrowing()
        }
        #expect(output.map(String.init).joined(separator: " ") == "1 2 3 4 5 6 7" && rest == 3)
        #expect(queue.isEmpty)
    }
}
