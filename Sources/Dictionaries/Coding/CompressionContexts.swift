/// A codec's context that can serve one body after the other.
protocol CompressionContext: AnyObject, Sendable {
    /// The bytes of memory it holds.
    var memoryBytes: Int { get }
    /// Makes it as new, dropping every reference to a dictionary; false if it must be freed instead.
    func reset() -> Bool
}

/// The contexts of one codec that wait for their next body: making one costs more than a small delta.
final class CompressionContexts<Context: CompressionContext>: Sendable {
    private struct Shelf {
        var contexts: [Context] = []
        var bytes = 0
    }

    private let countMax: Int
    private let bytesMax: Int
    private let contextBytesMax: Int
    private let shelf = Guarded(Shelf())

    /// A shelf for so many contexts of so many bytes together.
    ///
    /// - Parameter contextBytesMax: a context that a body has left larger is freed: the next body may be small, and its
    ///   budget with it.
    init(countMax: Int, bytesMax: Int, contextBytesMax: Int = 8 << 20) {
        self.countMax = countMax
        self.bytesMax = bytesMax
        self.contextBytesMax = contextBytesMax
    }

    /// The bytes of memory that waiting contexts hold.
    var memoryBytes: Int { shelf.withLock { $0.bytes } }

    /// A context nobody else has, the one used last first, because its memory is in the cache; nil if none waits.
    func take() -> Context? {
        shelf.withLock { shelf in
            guard let context = shelf.contexts.popLast() else { return nil }
            shelf.bytes -= context.memoryBytes
            return context
        }
    }

    /// Takes back a context that its encoder no longer uses; beyond the bounds it is freed.
    func give(_ context: Context) {
        guard context.reset() else { return }
        let bytes = context.memoryBytes
        guard bytes <= contextBytesMax else { return }
        shelf.withLock { shelf in
            guard shelf.contexts.count < countMax, shelf.bytes + bytes <= bytesMax else { return }
            shelf.contexts.append(context)
            shelf.bytes += bytes
        }
    }
}
