package import Dictionaries
internal import Primitives

/// The making, checking and keeping of deltas and indexed dictionaries.
///
/// Safe from any thread, and independent of requests.
package final class Deltas: Sendable {
    package let prepared: PreparedDictionaries
    package let cache: DeltaCache
    private let verification: Verification
    private let worker: BackgroundWorker
    private let passes = Guarded<[StrongestPass.End: Int]>([:])
    private let fault = Deltas.fault

    /// The fault that a test of the verification gives the encoders of new `Deltas`.
    @TaskLocal package static var fault: (@Sendable (any Encoder) -> any Encoder)?

    /// Makes empty caches with these budgets.
    ///
    /// - Parameter worker: the thread of the strongest passes.
    package init(
        preparedBytes: Int, cacheBytes: Int, verify: Verification.Mode = .sampled,
        worker: BackgroundWorker = BackgroundWorker()
    ) {
        prepared = PreparedDictionaries(bytesMax: preparedBytes)
        cache = DeltaCache(bytesMax: cacheBytes)
        verification = Verification(verify)
        self.worker = worker
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

    // MARK: Deltas for the cache

    /// Makes and verifies a delta that is to be cached, off the event loops.
    package func make(
        _ body: Body, over dictionary: Body, _ coding: ContentCoding, in scope: DeltaScope
    ) -> DeltaOutcome<VerifiedDelta> {
        guard let use = try? prepared.use(dictionary, for: coding, in: scope) else { return .failed(.coding) }
        return make(body, by: use.dictionary, coding, in: scope, isFirst: use.isFirst)
    }

    /// Makes and verifies a delta that is to be cached, over a dictionary that an event loop may use at once.
    ///
    /// - Parameter isFirst: True if nothing has been made over the dictionary's index yet.
    package func make(
        _ body: Body, by dictionary: DictionaryUse, _ coding: ContentCoding, in scope: DeltaScope,
        isFirst: Bool = false
    ) -> DeltaOutcome<VerifiedDelta> {
        guard let coded = encode(body.bytes, dictionary, coding) else { return .failed(.coding) }
        let isShorter = coded.count < body.count
        // The first delta over an index shows if the index is right, even if the delta itself is of no use.
        guard isShorter || isFirst else { return .notShorter }
        guard let delta = verification.verify(coded, of: body, over: dictionary.body, coding, in: scope)
        else { return .failed(.inexact) }
        return isShorter ? .coded(delta) : .notShorter
    }

    // MARK: Deltas that are sent only once

    /// Makes a delta that is sent only once, off the event loops; the setting `compression.verify` decides on its check.
    package func makeOnce(
        _ body: [UInt8], over dictionary: Body, _ coding: ContentCoding, in scope: DeltaScope
    ) -> DeltaOutcome<[UInt8]> {
        guard let use = try? prepared.use(dictionary, for: coding, in: scope) else { return .failed(.coding) }
        return makeOnce(body, by: use.dictionary, coding, isFirst: use.isFirst)
    }

    /// Makes a delta that is sent only once, over a dictionary that an event loop may use at once.
    package func makeOnce(
        _ body: [UInt8], by dictionary: DictionaryUse, _ coding: ContentCoding, isFirst: Bool = false
    ) -> DeltaOutcome<[UInt8]> {
        guard let coded = encode(body, dictionary, coding) else { return .failed(.coding) }
        let isShorter = coded.count < body.count
        guard isShorter || isFirst else { return .notShorter }
        let isChecked = verification.sample(isFirstOfIndex: isFirst)
        guard !isChecked || verification.isExact(coded, coding, dictionary: dictionary.body, body: body)
        else { return .failed(.inexact) }
        return isShorter ? .coded(coded) : .notShorter
    }

    private func encode(
        _ body: [UInt8], _ dictionary: DictionaryUse, _ coding: ContentCoding, effort: Effort = .live
    ) -> [UInt8]? {
        // Zstandard finds no match in a dictionary that lies at the body's own address (measured: 8,943 bytes instead
        // of 63).
        let body = dictionary.body.hasMemory(of: body) ? body.map { $0 } : body
        let options = EncoderOptions(bodyBytes: body.count, effort: effort, dictionary: dictionary)
        var coded: [UInt8] = []
        do throws(CodingError) {
            try encoder(for: coding, options).encode(body.span, .end, into: &coded)
        } catch {
            return nil
        }
        return coded
    }

    private func encoder(
        for coding: ContentCoding, _ options: EncoderOptions
    ) throws(CodingError) -> any Encoder {
        let encoder = try Codec.encoder(for: coding, options: options)
        return fault?(encoder) ?? encoder
    }

    // MARK: Streams

    /// Counts a stream; returns true if it is to be verified as it goes out.
    package func sampleStream(isFirstOfIndex: Bool = false) -> Bool {
        verification.sample(isFirstOfIndex: isFirstOfIndex)
    }

    /// The bytes of memory that the check of a stream takes.
    package static let streamCheckBytes = VerifiedEncoder.memoryBytesMax

    /// Returns an encoder for a stream; over a dictionary, and if `isChecked`, it verifies its own output.
    package func encoder(
        for coding: ContentCoding, options: EncoderOptions, isChecked: Bool
    ) throws(CodingError) -> any Encoder {
        guard let dictionary = options.dictionary?.body else {
            return try Codec.encoder(for: coding, options: options)
        }
        let encoder = try encoder(for: coding, options)
        guard isChecked else { return encoder }
        verification.countCheck()
        return try VerifiedEncoder(encoder, dictionary: dictionary, verification: verification)
    }

    // MARK: The strongest setting

    /// Codes a cached delta once more at the strongest setting, on a thread that gives way to all others.
    package func strengthen(_ pass: StrongestPass) {
        let isTaken = worker.submit { [self] in end(pass, run(pass)) }
        if !isTaken { end(pass, .dropped) }
    }

    private func run(_ pass: StrongestPass) -> StrongestPass.End {
        guard let (body, dictionary) = pass.inputs(), cache.codedBytes(pass.key) != nil else { return .stale }
        let options = EncoderOptions(bodyBytes: body.count, effort: .kept, dictionary: .reference(dictionary))
        var end = StrongestPass.End.dropped
        _ = pass.withMemory(Codec.memoryEstimate(for: pass.key.coding, options: options)) {
            end = strengthen(pass, body, dictionary)
        }
        return end
    }

    private func strengthen(_ pass: StrongestPass, _ body: Body, _ dictionary: Body) -> StrongestPass.End {
        let key = pass.key
        guard let coded = encode(body.bytes, .reference(dictionary), key.coding, effort: .kept) else {
            return .failed
        }
        // The delta may have gone in the meantime.
        guard let former = cache.codedBytes(key) else { return .stale }
        guard coded.count < former else { return .kept }
        guard let delta = verification.verify(coded, of: body, over: dictionary, key.coding, in: key.scope)
        else {
            pass.onInexact()
            return .failed
        }
        return cache.replace(with: delta) ? .replaced : .stale
    }

    private func end(_ pass: StrongestPass, _ end: StrongestPass.End) {
        // The next client requests the pass again, if it is still wanted then.
        if end == .dropped || end == .stale { cache.cancelStrongest(pass.key) }
        passes.withLock { $0[end, default: 0] += 1 }
    }
}

/// The counts of making deltas, and the sizes of what is kept for the next ones.
package struct DeltaStatistics: Sendable, Equatable {
    package var prepared = PreparedStatistics()
    package var cache = DeltaCacheStatistics()
    package var checks = 0
    /// The number of verified deltas that were not exact.
    package var failures = 0
    /// The number of passes at the strongest setting, by their end.
    package var passes: [StrongestPass.End: Int] = [:]
}
