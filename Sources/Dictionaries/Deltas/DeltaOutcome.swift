/// What came of making a delta.
package enum DeltaOutcome: Sendable, Equatable {
    /// It is made, and shorter than the body.
    case coded([UInt8])
    /// It would be no shorter than the body.
    case notShorter
    case failed(Failure)

    /// Why there is no delta.
    package enum Failure: Sendable, Equatable {
        /// The library refused.
        case coding
        /// It did not decode to the body.
        case inexact
        /// There was no place to make it.
        case busy
    }
}
