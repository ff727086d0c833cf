internal import Primitives

/// A codec's context that serves one body after the other.
protocol CompressionContext: AnyObject, Sendable {
    var memoryBytes: Int { get }
    /// Resets the context and drops every reference to a dictionary; returns false if it must be freed instead.
    func reset() -> Bool
}

/// A pool of one codec's contexts: making one costs more than a small delta.
final class ContextPool<Context: CompressionContext>: Sendable {
    private struct State {
        var contexts: [Context] = []
        var bytes = 0
    }

    private let countMax: Int
    private let bytesMax: Int
    private let contextBytesMax: Int
    private let state = Guarded(State())

    /// Makes an empty pool with bounds on the number of contexts and on their bytes.
    ///
    /// - Parameter contextBytesMax: the size above which a context is freed rather than kept: the next body may be
    ///   small, and its budget with it.
    init(countMax: Int, bytesMax: Int, contextBytesMax: Int = 8 << 20) {
        self.countMax = countMax
        self.bytesMax = bytesMax
        self.contextBytesMax = contextBytesMax
    }

    /// Takes the context that was used last, since its memory is in the cache; returns nil if the pool is empty.
    func take() -> Context? {
        state.withLock { state in
            guard let context = state.contexts.popLast() else { return nil }
            state.bytes -= context.memoryBytes
            return context
        }
    }

    /// Gives back a context that its encoder no longer uses; the pool frees it if a bound is reached.
    func give(_ context: Context) {
        guard context.reset() else { return }
        let bytes = context.memoryBytes
        guard bytes <= contextBytesMax else { return }
        state.withLock { state in
            guard state.contexts.count < countMax, state.bytes + bytes <= bytesMax else { return }
            state.contexts.append(context)
            state.bytes += bytes
        }
    }
}
