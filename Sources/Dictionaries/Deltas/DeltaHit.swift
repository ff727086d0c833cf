/// A delta that was made before.
package struct DeltaHit: Sendable {
    /// The delta, or that it would be no shorter.
    package let outcome: DeltaOutcome
    /// Whether it is of interest who asks: the delta may still become stronger.
    package let wantsPeers: Bool
}

/// What one who asks for a delta is told.
package enum DeltaJoin: Sendable {
    /// It is there.
    case hit(DeltaHit)
    /// Another makes it, and will call back.
    case waiting
    /// It is to be made by the one who asks.
    case lead(DeltaTurn)
}
