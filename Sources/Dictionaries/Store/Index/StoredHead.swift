internal import Synchronization

/// The head of the answer that made a version, kept so that the upstream can be asked whether it still holds.
///
/// Opaque bytes to the store. Only the newest version of a URL and variant has one. Safe from any thread.
package final class StoredHead: Sendable {
    private struct State: Sendable {
        var bytes: [UInt8]?
        /// What those who use it have made of the bytes.
        var reading: (any Sendable & AnyObject)?
        var isRefused = false
        /// Seconds since 1970.
        var writtenAt: Int
    }

    /// Longer heads are not kept.
    package static let bytesMax = 8 * 1024
    /// An update is written to disk at most so often: some upstreams change a field with every answer.
    private static let writeSeconds = 60

    private let memory: HeadMemory
    private let state: Guarded<State>

    /// Keeps a head; nil where it is too long or there is no room.
    init?(_ bytes: [UInt8], memory: HeadMemory, now: Int = 0) {
        guard bytes.count <= Self.bytesMax, memory.take(Self.cost(bytes)) else { return nil }
        self.memory = memory
        state = Guarded(State(bytes: bytes, writtenAt: now))
    }

    deinit { memory.give(Self.cost(bytes)) }

    /// What a head takes of the memory, with what is made of it.
    private static func cost(_ bytes: [UInt8]?) -> Int { 3 * (bytes?.count ?? 0) }

    /// The head as it was given; nil once it was forgotten.
    package var bytes: [UInt8]? { state.withLock { $0.bytes } }

    /// What `read` makes of the head, which is done once for as long as the head stays the same.
    package func reading<Reading: Sendable & AnyObject>(_ read: ([UInt8]) -> Reading?) -> Reading? {
        let (bytes, known) = state.withLock { ($0.bytes, $0.reading) }
        if let known = known as? Reading { return known }
        guard let bytes, let reading = read(bytes) else { return nil }
        state.withLock { if $0.bytes == bytes { $0.reading = reading } }
        return reading
    }

    /// Forgets the head for good: the upstream does not confirm it in a way that can be trusted.
    package func refuse() { forget(isRefused: true) }

    /// Forgets the head until a whole answer brings another.
    package func clear() { forget(isRefused: false) }

    /// Puts a newer head in its place; true when that should be written to disk.
    func replace(_ new: [UInt8], now: Int) -> Bool {
        guard new.count <= Self.bytesMax else { return false }
        return state.withLock { state in
            guard !state.isRefused, state.bytes != new, memory.take(Self.cost(new)) else { return false }
            memory.give(Self.cost(state.bytes))
            (state.bytes, state.reading) = (new, nil)
            // A clock that was set back must not stop the updates.
            guard !(state.writtenAt...state.writtenAt + Self.writeSeconds).contains(now) else { return false }
            state.writtenAt = now
            return true
        }
    }

    private func forget(isRefused: Bool) {
        state.withLock { state in
            memory.give(Self.cost(state.bytes))
            (state.bytes, state.reading) = (nil, nil)
            state.isRefused = state.isRefused || isRefused
        }
    }
}

/// The bytes that all stored heads may take; never waits.
final class HeadMemory: Sendable {
    private let bytesMax: Int
    private let taken = Atomic<Int>(0)

    /// For those who have no use for heads.
    static let none = HeadMemory(bytesMax: 0)

    init(bytesMax: Int) {
        self.bytesMax = bytesMax
    }

    /// What they take.
    var bytes: Int { taken.load(ordering: .relaxed) }

    /// Takes so many bytes, or none if that is more than there is.
    func take(_ bytes: Int) -> Bool {
        if taken.wrappingAdd(bytes, ordering: .relaxed).newValue <= bytesMax { return true }
        give(bytes)
        return false
    }

    func give(_ bytes: Int) {
        taken.wrappingSubtract(bytes, ordering: .relaxed)
    }
}
