internal import Dictionaries
internal import Dispatch
internal import HTTP
internal import Synchronization

/// Finds out now and then what deltas save: codes a body without a dictionary too, beside everything else.
///
/// One body at a time at the lowest priority; while one is measured, others are not.
final class SavingsSampler: Sendable {
    /// One delta that went out, and what it is compared with.
    struct Sample: Sendable {
        let chain: ChainKey
        let body: [UInt8]
        let deltaBytes: Int
        /// The match of the request's route.
        let route: String
    }

    /// Larger bodies are not compared.
    private static let bodyBytesMax = 1 << 20

    private let store: DictionaryStore
    /// The codings that an answer could have had instead.
    private let codings: [ContentCoding]
    private let queue = DispatchQueue(label: "dictum.savings", qos: .background)
    private let isBusy = Atomic<Bool>(false)

    init(store: DictionaryStore, codings: [ContentCoding]) {
        self.store = store
        self.codings = codings.filter { !$0.usesDictionary && $0 != .identity }
    }

    /// Measures a sample later, or drops it.
    func submit(_ sample: Sample) {
        guard !codings.isEmpty, sample.body.count <= Self.bodyBytesMax,
            !isBusy.exchange(true, ordering: .acquiringAndReleasing)
        else { return }
        queue.async {
            self.measure(sample)
            self.isBusy.store(false, ordering: .releasing)
        }
    }

    private func measure(_ sample: Sample) {
        let sizes = codings.compactMap { coding in
            try? Codec.encode(
                sample.body.span, coding, options: EncoderOptions(bodyBytes: sample.body.count)
            ).count
        }
        let plainBytes = min(sizes.min() ?? sample.body.count, sample.body.count)
        store.noteSample(
            chain: sample.chain, deltaBytes: sample.deltaBytes, plainBytes: plainBytes,
            now: Clock.unixSeconds,
            route: sample.route)
    }
}
