/// The making, checking and keeping of deltas and indexed dictionaries.
///
/// Safe from any thread, and independent of requests.
package final class Deltas: Sendable {
    package let prepared: PreparedDictionaries
    package let cache: DeltaCache
    private let verification: Verification
    private let queue = StrongestQueue()
    private let passes = Guarded<[StrongestPass.End: Int]>([:])
    private let fault: Fault?

    /// A function that changes a delta before it is verified.
    package typealias Fault = @Sendable (inout [UInt8]) -> Void

    /// Makes empty caches with these budgets.
    ///
    /// - Parameter fault: a fault that tests of the verification inject, since no library fails on demand; no
    ///   setting leads here.
    package init(
        preparedBytes: Int, cacheBytes: Int, verify: Verification.Mode = .sampled, fault: Fault? = nil
    ) {
        prepared = PreparedDictionaries(bytesMax: preparedBytes)
        cache = DeltaCache(bytesMax: cacheBytes)
        verification = Verification(verify)
        self.fault = fault
    }

    /// The current sizes, and the counts since the start.
    package var statistics: DeltaStatistics {
        var statistics = DeltaStatistics()
        statistics.prepared = prepared.statistics
        statistics.cache = cache.statistics
        statistics.checks = verification.checks
        statistics.failures = verification.failures
        statistics.passes = passes.withLock { $0 }
        return statistics
    }

    /// Makes a delta, off the event loops; a delta that is to be cached is always verified.
    package func make(
        _ body: [UInt8], over dictionary: Body, _ coding: ContentCoding, in scope: DeltaScope, isCached: Bool
    ) -> DeltaOutcome {
        guard let use = try? prepared.use(dictionary, for: coding, in: scope) else { return .failed(.coding) }
        return make(body, use, coding, isCached: isCached)
    }

    /// Makes a delta over a dictionary that an event loop may use at once.
    package func make(
        _ body: [UInt8], overQuick dictionary: DictionaryUse, _ coding: ContentCoding, isCached: Bool
    ) -> DeltaOutcome {
        make(body, PreparedUse(dictionary), coding, isCached: isCached)
    }

    private func make(
        _ body: [UInt8], _ use: PreparedUse, _ coding: ContentCoding, isCached: Bool
    ) -> DeltaOutcome {
        let options = EncoderOptions(bodyBytes: body.count, dictionary: use.dictionary)
        // Zstandard finds no match in a dictionary that lies at the body's own address (measured: 8,943 bytes
        // instead of 63).
        let body = use.dictionary.body.hasMemory(of: body) ? body.map { $0 } : body
        guard var coded = try? Codec.encode(body.span, coding, options: options) else {
            return .failed(.coding)
        }
        fault?(&coded)
        let isShorter = coded.count < body.count
        // The first delta over an index shows if the index is right, even if the delta itself is of no use.
        guard isShorter || use.isFirst else { return .notShorter }
        let isChecked = isCached || verification.isDue(isFirstOfIndex: use.isFirst)
        guard !isChecked || verification.isExact(coded, coding, dictionary: use.dictionary.body, body: body)
        else { return .failed(.inexact) }
        return isShorter ? .coded(coded) : .notShorter
    }

    // MARK: Bodies that go on piece by piece

    /// Returns true if the next stream is to be checked as it goes out, and counts it.
    package func isStreamCheckDue(isFirstOfIndex: Bool = false) -> Bool {
        verification.isDue(isFirstOfIndex: isFirstOfIndex)
    }

    /// The bytes of memory that the check of a stream takes.
    package static let streamCheckBytes = VerifiedEncoder.memoryBytesMax

    /// Returns an encoder that checks its own output; see `VerifiedEncoder`.
    package func checked(_ encoder: any Encoder, over dictionary: Body) throws(CodingError) -> any Encoder {
        verification.countCheck()
        return try VerifiedEncoder(encoder, dictionary: dictionary, verification: verification, fault: fault)
    }

    // MARK: The strongest setting

    /// Codes a cached delta once more at the strongest setting, on a thread that gives way to all others.
    package func strengthen(_ pass: StrongestPass) {
        let isTaken = queue.submit { [self] in end(pass, run(pass)) }
        if !isTaken { end(pass, .dropped) }
    }

    private func run(_ pass: StrongestPass) -> StrongestPass.End {
        guard let (body, dictionary) = pass.inputs(), cache.codedBytes(pass.key) != nil else { return .stale }
        let options = EncoderOptions(
            bodyBytes: body.count, effort: .kept, dictionary: .reference(dictionary))
        var end = StrongestPass.End.dropped
        _ = pass.withMemory(Codec.memoryEstimate(for: pass.key.coding, options: options)) {
            end = strengthen(pass, body, dictionary, options)
        }
        return end
    }

    private func strengthen(
        _ pass: StrongestPass, _ body: Body, _ dictionary: Body, _ options: EncoderOptions
    ) -> StrongestPass.End {
        let (coding, bytes) = (pass.key.coding, body.bytes)
        guard var coded = try? Codec.encode(bytes.span, coding, options: options) else { return .failed }
        fault?(&coded)
        // The delta may have gone in the meantime.
        guard let former = cache.codedBytes(pass.key) else { return .stale }
        guard coded.count < former else { return .kept }
        guard verification.isExact(coded, coding, dictionary: dictionary, body: bytes) else {
            pass.onInexact()
            return .failed
        }
        return cache.replace(pass.key, with: coded) ? .replaced : .stale
    }

    private func end(_ pass: StrongestPass, _ end: StrongestPass.End) {
        // The next client requests the pass again, if it is still wanted then.
        if end == .dropped || end == .stale { cache.dropStrongest(pass.key) }
        passes.withLock { $0[end, default: 0] += 1 }
    }
}

/// The counts of making deltas, and the sizes of what is kept for the next ones.
package struct DeltaStatistics: Sendable, Equatable {
    package var prepared = PreparedStatistics()
    package var cache = DeltaCacheStatistics()
    /// The number of deltas that were verified.
    package var checks = 0
    /// The number of verified deltas that were not exact.
    package var failures = 0
    /// The number of passes at the strongest setting, by their end.
    package var passes: [StrongestPass.End: Int] = [:]

    package init() {}
}
