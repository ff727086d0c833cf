internal import Synchronization

/// Which deltas are decoded again before they are sent, and how that went.
///
/// Safe from any thread.
package final class Verification: Sendable {
    /// The setting `compression.verify`.
    package enum Mode: String, Sendable {
        /// One in a hundred, and the first of each prepared dictionary.
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

    /// How many deltas were checked.
    package var checks: Int { checked.load(ordering: .relaxed) }
    /// How many of them were not exact.
    package var failures: Int { failed.load(ordering: .relaxed) }

    /// Whether a delta that is sent only once is to be checked.
    func isDue(isFirstOfIndex: Bool) -> Bool {
        switch mode {
        case .always: true
        case .never: false
        case .sampled:
            made.wrappingAdd(1, ordering: .relaxed).oldValue % Self.sampleSize == 0 || isFirstOfIndex
        }
    }

    /// Counts a stream that is decoded as it goes out.
    func countCheck() { checked.wrappingAdd(1, ordering: .relaxed) }

    /// Counts such a stream that was not exact.
    func countFailure() { failed.wrappingAdd(1, ordering: .relaxed) }

    /// Decodes a delta and compares.
    func isExact(_ coded: [UInt8], _ coding: ContentCoding, dictionary: Body, body: [UInt8]) -> Bool {
        let isExact = DeltaCheck.isExact(coded, coding, dictionary: dictionary, body: body)
        countCheck()
        if !isExact { countFailure() }
        return isExact
    }
}
