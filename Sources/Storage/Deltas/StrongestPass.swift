package import Dictionaries

/// A delta that is to be coded once more, as strongly as its coding can.
package struct StrongestPass: Sendable {
    /// The largest body and dictionary: larger ones take seconds, and their live deltas are good.
    package static let bytesMax = 1 << 20

    package let key: DeltaKey
    /// Returns body and dictionary when the pass begins; nil if the body is no longer current or either is not in
    /// memory.
    ///
    /// They are requested only then, so that a waiting pass holds no bodies.
    package let inputs: @Sendable () -> (body: Body, dictionary: Body)?
    /// Runs work that takes so many bytes of memory; returns false, without running it, if there is no memory.
    package let withMemory: @Sendable (Int, () -> Void) -> Bool
    /// Called for a delta that does not decode to the body.
    package let onInexact: @Sendable () -> Void

    package init(
        key: DeltaKey, inputs: @escaping @Sendable () -> (body: Body, dictionary: Body)?,
        withMemory: @escaping @Sendable (Int, () -> Void) -> Bool, onInexact: @escaping @Sendable () -> Void
    ) {
        self.key = key
        self.inputs = inputs
        self.withMemory = withMemory
        self.onInexact = onInexact
    }

    package enum End: String, Sendable, CaseIterable {
        /// The strongest delta is shorter and replaced the former.
        case replaced
        /// The former delta is as short.
        case kept
        /// The body has changed since, or the delta was evicted.
        case stale
        /// The delta could not be made, or was not exact.
        case failed
        /// The queue was full, or there was no memory.
        case dropped
    }
}
