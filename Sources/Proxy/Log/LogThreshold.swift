package import Storage
internal import Synchronization

/// The minimum level of log messages, which the admin listener can change.
package final class LogThreshold: Sendable {
    private let rank: Atomic<Int>

    package init(_ level: LogLevel) {
        rank = Atomic(level.index)
    }

    /// The level from now on, until a reload or the admin listener sets another one.
    package var level: LogLevel {
        get { LogLevel.allCases[rank.load(ordering: .relaxed)] }
        set { rank.store(newValue.index, ordering: .relaxed) }
    }

    package func includes(_ level: LogLevel) -> Bool {
        level.index >= rank.load(ordering: .relaxed)
    }
}
