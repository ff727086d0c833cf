internal import CLinux

/// An object that a loop calls.
///
/// All calls come on the loop, never from within another call of the same handler.
package protocol Handler: AnyObject {
    /// The descriptor is ready for `events`, edge-triggered: the loop does not repeat an event that is not
    /// handled.
    func ready(_ events: Readiness, _ core: EventLoop.Core)
    /// The attention that `EventLoop.Core.attend` asked for, at the end of a batch.
    func attend(_ core: EventLoop.Core)
    /// The deadline has passed and is removed.
    func expired(_ core: EventLoop.Core)
}

extension Handler {
    package func ready(_ events: Readiness, _ core: EventLoop.Core) {}
    package func attend(_ core: EventLoop.Core) {}
    package func expired(_ core: EventLoop.Core) {}
}

/// The name of a handler on its loop: a slot and how often it was reused.
///
/// A descriptor is not a name: the kernel may reuse a number within one batch of events.
package struct Token: Sendable, Hashable {
    let index: UInt32
    let generation: UInt32

    package static let none = Token(index: .max, generation: .max)

    init(index: UInt32, generation: UInt32) {
        self.index = index
        self.generation = generation
    }

    init(rawValue: UInt64) {
        index = UInt32(truncatingIfNeeded: rawValue)
        generation = UInt32(truncatingIfNeeded: rawValue >> 32)
    }

    var rawValue: UInt64 { UInt64(generation) << 32 | UInt64(index) }
}

package struct Readiness: OptionSet, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    package static let readable = Readiness(rawValue: CLinux_IN)
    package static let writable = Readiness(rawValue: CLinux_OUT)
    /// The peer sends no more but may still read.
    package static let peerClosed = Readiness(rawValue: CLinux_RDHUP)
    /// The connection has failed, or both directions are closed.
    package static let broken = Readiness(rawValue: CLinux_ERR | CLinux_HUP)

    /// Every change of a connection's state, reported once each.
    static let edges: UInt32 = CLinux_IN | CLinux_OUT | CLinux_RDHUP | CLinux_ET
    /// For listeners: reported while connections wait.
    static let level: UInt32 = CLinux_IN
    /// For a listening socket of several loops: a new connection wakes one that waits, not all.
    static let exclusive: UInt32 = CLinux_IN | CLinux_EXCLUSIVE
}
