/// One delta to be coded once more, as strongly as its coding can.
package struct StrongestPass: Sendable {
    /// Larger bodies and dictionaries take seconds, and their live deltas are good.
    package static let bytesMax = 1 << 20

    package let key: DeltaKey
    /// Body and dictionary when the turn comes; nil if the body is no longer the current one, or either not in memory.
    ///
    /// Asked for then, so that what waits holds no bodies.
    package let inputs: @Sendable () -> (body: Body, dictionary: Body)?
    /// Runs work that takes so many bytes of memory; false, without running it, where there is none.
    package let withMemory: @Sendable (Int, () -> Void) -> Bool
    /// Told of a delta that does not decode to the body.
    package let onInexact: @Sendable () -> Void

    /// Describes a pass.
    package init(
        key: DeltaKey, inputs: @escaping @Sendable () -> (body: Body, dictionary: Body)?,
        withMemory: @escaping @Sendable (Int, () -> Void) -> Bool, onInexact: @escaping @Sendable () -> Void
    ) {
        self.key = key
        self.inputs = inputs
        self.withMemory = withMemory
        self.onInexact = onInexact
    }

    /// How a pass ended.
    package enum End: String, Sendable, CaseIterable {
        /// The strongest delta is shorter and took the place of the former.
        case replaced
        /// The former is as short.
        case kept
        /// The body has changed since, or the delta has gone.
        case stale
        /// It could not be made, or was not exact.
        case failed
        /// There was no place in the queue, or no memory.
        case dropped
    }
}
