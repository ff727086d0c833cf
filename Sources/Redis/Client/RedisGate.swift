internal import Primitives
internal import Synchronization

/// The admission of commands of one urgency: bounded in number and bytes, and closed while the breaker is open.
///
/// Safe from any thread.
final class RedisGate: Sendable {
    /// The amount that commands take of the bounds.
    struct Cost: Sendable {
        let commands: Int
        let bytes: Int
    }

    /// The milliseconds that background commands wait for their reply.
    static let backgroundDeadline: Int64 = 2_000

    private let commandsMax: Int
    private let bytesMax: Int
    private let waiting = Guarded((commands: 0, bytes: 0))
    private let opened = Atomic<Bool>(false)
    /// The lanes that take commands.
    let ready = Guarded<Set<ObjectIdentifier>>([])
    /// The milliseconds that commands wait for their reply, if the caller does not say.
    let deadline: Atomic<Int64>

    /// - Parameter bytesMax: The bound for background commands.
    init(_ urgency: RedisUrgency, bytesMax: Int) {
        switch urgency {
        case .request:
            commandsMax = 1_024
            self.bytesMax = 4 << 20
            deadline = Atomic(20)
        case .background:
            commandsMax = 4_096
            self.bytesMax = bytesMax
            deadline = Atomic(Self.backgroundDeadline)
        }
    }

    var bytes: Int { waiting.withLock { $0.bytes } }

    /// True while commands are accepted, as a lane takes them.
    var isOpen: Bool { opened.load(ordering: .relaxed) }

    /// Notes that a lane takes commands, or that it does not.
    func note(_ lane: ObjectIdentifier, isReady: Bool) {
        ready.withLock { lanes in
            if isReady { lanes.insert(lane) } else { lanes.remove(lane) }
            opened.store(!lanes.isEmpty, ordering: .relaxed)
        }
    }

    /// Accepts nothing from now on, whichever lanes there are.
    func close() { ready.withLock { _ in opened.store(false, ordering: .relaxed) } }

    /// Accepts commands, which must leave once, or throws why not.
    func enter(_ cost: Cost) throws(RedisFailure) {
        guard isOpen else { throw .unavailable }
        let fits = waiting.withLock { waiting in
            guard waiting.commands + cost.commands <= commandsMax, waiting.bytes + cost.bytes <= bytesMax
            else { return false }
            waiting.commands += cost.commands
            waiting.bytes += cost.bytes
            return true
        }
        guard fits else { throw .busy }
    }

    func leave(_ cost: Cost) {
        waiting.withLock { waiting in
            waiting.commands -= cost.commands
            waiting.bytes -= cost.bytes
        }
    }
}
