internal import CLinux

/// The events of a descriptor.
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
}
