internal import Testing

@testable import Dictionaries

private final class Context: CompressionContext {
    let memoryBytes: Int
    private let isSound: Bool

    init(_ memoryBytes: Int, isSound: Bool = true) {
        (self.memoryBytes, self.isSound) = (memoryBytes, isSound)
    }

    func reset() -> Bool { isSound }
}

@Suite(.timeLimit(.minutes(40))) struct ContextPoolTests {
    @Test func `idle contexts count until they are taken, and only so many bytes and so many are kept`() async
    {
        await #expect(processExitsWith: .success) {
            IdleContexts.limit(to: 1_000)
            let pool = ContextPool<Context>(contextBytesMax: 400)
            for _ in 0..<10 {
                pool.give(Context(400))
                #expect(IdleContexts.bytes == 400)
                #expect(pool.take() != nil && IdleContexts.bytes == 0)
            }
            pool.give(Context(401))
            pool.give(Context(1, isSound: false))
            #expect(pool.take() == nil && IdleContexts.bytes == 0)
            for _ in 0..<3 { pool.give(Context(400)) }
            #expect(IdleContexts.bytes == 800, "the third has no room")
            while pool.take() != nil {}
            for _ in 0..<20 { pool.give(Context(1)) }
            #expect(IdleContexts.bytes == 16, "sixteen are enough")
        }
    }
}
