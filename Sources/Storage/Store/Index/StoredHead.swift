internal import Primitives
internal import Synchronization

/// The head of the response that made a version, with which the upstream can be asked to revalidate.
///
/// Opaque bytes to the store. Only the newest version of a URL and variant has one. Safe from any thread.
package final class StoredHead: Sendable {
    private struct State: Sendable {
        var bytes: [UInt8]?
        /// The parsed form, made by the users of the head.
        var reading: (any Sendable & AnyObject)?
        var isRefused = false
        /// The time of the last write, in seconds since 1970.
        var writtenAt: Int
    }

    /// The length above which heads are not kept.
    package static let bytesMax = 8 * 1024
    /// The interval between two writes; some upstreams change a field with every response.
    private static let writeSeconds = 60

    private let memory: HeadMemory
    private let state: Guarded<State>

    /// Keeps a head; returns nil if it is too long or there is no room.
    init?(_ bytes: [UInt8], memory: HeadMemory, now: Int = 0) {
        guard bytes.count <= Self.bytesMax, memory.take(Self.cost(bytes)) else { return nil }
        self.memory = memory
        state = Guarded(State(bytes: bytes, writtenAt: now))
    }

    deinit { memory.give(Self.cost(bytes)) }

    /// Returns the bytes that a head takes in memory, with its parsed form.
    private static func cost(_ bytes: [UInt8]?) -> Int { 3 * (bytes?.count ?? 0) }

    /// The head as it was given; nil once it was forgotten.
    package var bytes: [UInt8]? { state.withLock { $0.bytes } }

    /// Returns the parsed form, for which `read` is called once per head.
    package func reading<Reading: Sendable & AnyObject>(_ read: ([UInt8]) -> Reading?) -> Reading? {
        let (bytes, known) = state.withLock { ($0.bytes, $0.reading) }
        if let known = known as? Reading { return known }
        guard let bytes, let reading = read(bytes) else { return nil }
        state.withLock { if $0.bytes == bytes { $0.reading = reading } }
        return reading
    }

    /// Forgets the head for good, because the upstream's revalidation cannot be trusted.
    package func refuse() { forget(isRefused: true) }

    /// Forgets the head until a complete response brings another.
    package func clear() { forget(isRefused: false) }

    /// Replaces the head by a newer one; returns true if that should be written to disk.
    func replace(_ new: [UInt8], now: Int) -> Bool {
        guard new.count <= Self.bytesMax else { return false }
        return state.withLock { state in
            // The former head makes room for the new one.
            guard !state.isRefused, state.bytes != new, memory.take(Self.cost(new) - Self.cost(state.bytes))
            else { return false }
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

/// The memory budget of all stored heads; never waits.
final class HeadMemory: Sendable {
    private let bytesMax: Int
    private let taken = Atomic<Int>(0)

    /// A budget without memory, for callers that need no heads.
    static let none = HeadMemory(bytesMax: 0)

    init(bytesMax: Int) {
        self.bytesMax = bytesMax
    }

    var bytes: Int { taken.load(ordering: .relaxed) }

    /// Takes bytes, all or none.
    func take(_ bytes: Int) -> Bool {
        if taken.wrappingAdd(bytes, ordering: .relaxed).newValue <= bytesMax { return true }
        give(bytes)
        return false
    }

    func give(_ bytes: Int) {
        taken.wrappingSubtract(bytes, ordering: .relaxed)
    }
}
