internal import Synchronization

/// The choice of the deltas that are verified before they are sent, and the counts of that.
///
/// Safe from any thread.
package final class Verification: Sendable {
    /// The setting `compression.verify`.
    package enum Mode: String, Sendable {
        /// One delta in a hundred is verified, and the first of each prepared dictionary.
        case sampled
        case always
        case never
    }

    private static let sampleSize = 100

    private let mode: Mode
    private let made = Atomic<Int>(0)
    private let checked = Atomic<Int>(0)
    private let failed = Atomic<Int>(0)

    init(_ mode: Mode) {
        self.mode = mode
    }

    /// The number of deltas that were verified.
    package var checks: Int { checked.load(ordering: .relaxed) }
    /// The number of verified deltas that were not exact.
    package var failures: Int { failed.load(ordering: .relaxed) }

    /// Returns true if a delta that is sent only once is to be verified, and counts it.
    func isDue(isFirstOfIndex: Bool) -> Bool {
        switch mode {
        case .always: true
        case .never: false
        case .sampled:
            made.wrappingAdd(1, ordering: .relaxed).oldValue % Self.sampleSize == 0 || isFirstOfIndex
        }
    }

    /// Counts a stream that is verified as it goes out.
    func countCheck() { checked.wrappingAdd(1, ordering: .relaxed) }

    /// Counts a stream that was not exact.
    func countFailure() { failed.wrappingAdd(1, ordering: .relaxed) }

    /// Decodes a delta, compares it with the body, and counts.
    func isExact(_ coded: [UInt8], _ coding: ContentCoding, dictionary: Body, body: [UInt8]) -> Bool {
        let isExact = DeltaCheck.isExact(coded, coding, dictionary: dictionary, body: body)
        countCheck()
        if !isExact { countFailure() }
        return isExact
    }
}
