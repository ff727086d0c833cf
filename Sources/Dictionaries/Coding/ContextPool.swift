internal import Primitives

/// The memory of the contexts that wait in all pools.
package enum IdleContexts {
    private struct Room {
        var limit = 64 << 20
        var taken = 0
    }

    private static let room = Guarded(Room())

    /// The bytes in use.
    package static var bytes: Int { room.withLock { $0.taken } }

    /// Bounds the bytes; contexts beyond a lower bound wait until they are taken.
    package static func limit(to bytes: Int) { room.withLock { $0.limit = bytes } }

    /// Takes bytes; returns false, and takes none, if fewer are left.
    fileprivate static func reserve(_ bytes: Int) -> Bool {
        room.withLock { room in
            guard bytes <= room.limit - room.taken else { return false }
            room.taken += bytes
            return true
        }
    }

    fileprivate static func release(_ bytes: Int) { room.withLock { $0.taken -= bytes } }
}

/// A codec's context that serves one body after the other.
protocol CompressionContext: AnyObject, Sendable {
    var memoryBytes: Int { get }
    /// Resets the context and drops every reference to a dictionary; returns false if it must be freed instead.
    func reset() -> Bool
}

/// A pool of one codec's contexts: making one costs more than a small delta.
final class ContextPool<Context: CompressionContext>: Sendable {
    private let countMax = 16
    private let contextBytesMax: Int
    private let contexts = Guarded<[Context]>([])

    /// Makes an empty pool.
    ///
    /// - Parameter contextBytesMax: the size above which a context is freed rather than kept: the next body may be
    ///   small, and its budget with it.
    init(contextBytesMax: Int = 8 << 20) { self.contextBytesMax = contextBytesMax }

    /// Takes the context that was used last, since its memory is in the cache; returns nil if the pool is empty.
    func take() -> Context? {
        let context = contexts.withLock { $0.popLast() }
        if let context { IdleContexts.release(context.memoryBytes) }
        return context
    }

    /// Gives back a context that its encoder no longer uses; the pool frees it if a bound is reached.
    func give(_ context: Context) {
        guard context.reset() else { return }
        let bytes = context.memoryBytes
        guard bytes <= contextBytesMax, IdleContexts.reserve(bytes) else { return }
        let isKept = contexts.withLock { contexts in
            guard contexts.count < countMax else { return false }
            contexts.append(context)
            return true
        }
        if !isKept { IdleContexts.release(bytes) }
    }
}
