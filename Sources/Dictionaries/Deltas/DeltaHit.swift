/// A delta found in the cache.
package struct DeltaHit: Sendable {
    /// The delta, or that it would be no shorter than the body.
    package let outcome: DeltaOutcome
    /// True if the client's address is to be recorded: the delta may still be coded more strongly.
    package let wantsPeers: Bool
}

/// The result of a look-up that may make the delta.
package enum DeltaJoin: Sendable {
    /// The delta is in the cache.
    case hit(DeltaHit)
    /// Another client's thread makes it, and will call back.
    case waiting
    /// The caller is to make it.
    case lead(DeltaTurn)
}
