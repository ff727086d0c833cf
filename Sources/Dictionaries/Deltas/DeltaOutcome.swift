/// The outcome of making a delta.
package enum DeltaOutcome: Sendable, Equatable {
    /// The delta is made, and shorter than the body.
    case coded([UInt8])
    /// The delta would be no shorter than the body.
    case notShorter
    case failed(Failure)

    /// The reason why there is no delta.
    package enum Failure: Sendable, Equatable {
        /// The library failed.
        case coding
        /// The delta did not decode to the body.
        case inexact
        /// No encoder was free.
        case busy
    }
}
