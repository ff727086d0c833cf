internal import Synchronization

/// The minimum level of log messages, which the admin listener can change.
///
/// Safe from any thread.
package final class LogThreshold: Sendable {
    private let rank: Atomic<Int>

    package init(_ level: Configuration.Log.Level) {
        rank = Atomic(level.index)
    }

    /// The level from now on, until a reload or the admin listener sets another one.
    package var level: Configuration.Log.Level {
        get { Configuration.Log.Level.allCases[rank.load(ordering: .relaxed)] }
        set { rank.store(newValue.index, ordering: .relaxed) }
    }

    package func includes(_ level: Configuration.Log.Level) -> Bool {
        level.index >= rank.load(ordering: .relaxed)
    }
}
