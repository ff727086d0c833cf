internal import Dictionaries
internal import Storage

/// The resources that code bodies: threads, memory and the deltas made so far.
///
/// They outlive reloads. Safe from any thread.
final class CodingResources: Sendable {
    let pool: CompressionPool
    /// The budget for live encoders and held bodies.
    let memory: MemoryBudget
    let deltas: Deltas
    private let report: @Sendable (OperatorEvent) -> Void

    init(
        pool: CompressionPool, memory: MemoryBudget, deltas: Deltas,
        report: @escaping @Sendable (OperatorEvent) -> Void
    ) {
        self.pool = pool
        self.memory = memory
        self.deltas = deltas
        self.report = report
    }

    /// Reports a delta that does not decode to its body, and turns dictionaries off for its route.
    func reportInexact(
        _ key: DeltaKey?, _ coding: ContentCoding, dictionary: Digest, in scope: DeltaScope, on route: Route
    ) {
        // Digests of personal bodies are not logged.
        let body = key.map { ", body \($0.body.hex)" } ?? ""
        let names = scope == .public ? " (dictionary \(dictionary.hex)\(body))" : ""
        let isFirst = route.distrust()
        report(
            .error(
                """
                a \(coding.token) delta of route \(route.text) did not decode to its body\(names) \
                and was not sent\(isFirst ? "; dictionaries are off for this route until a reload" : "")
                """))
    }

    /// Notes a client that gets a delta; a delta that three clients have asked for is coded again at the strongest setting.
    ///
    /// - Parameters:
    ///   - target: The place where the body is the newest version; nil if it is none.
    ///   - dictionary: The version that the delta is over, and its body.
    ///   - withMemory: Runs the pass within a number of bytes of memory; returns false if there are none.
    func noteAsker(
        _ address: UInt128, of key: DeltaKey, bodyBytes: Int, at target: AdmissionTarget?,
        over dictionary: (version: Storage.Version, body: Body), in store: DictionaryStore, on route: Route,
        withMemory: @escaping @Sendable (Int, () -> Void) -> Bool
    ) {
        guard deltas.cache.recordPeer(address, of: key) else { return }
        guard let target, !target.isProvisional,
            max(dictionary.body.count, bodyBytes) <= StrongestPass.bytesMax
        else { return deltas.cache.cancelStrongest(key) }
        let (place, version) = (target.key, dictionary.version)
        deltas.strengthen(
            StrongestPass(
                key: key,
                inputs: {
                    let index = store.reader()
                    guard let newest = index.newest(place),
                        let same = index.version(place, digest: key.body), newest.id == same.id,
                        let body = store.hotBody(of: newest), let dictionary = store.hotBody(of: version)
                    else { return nil }
                    return (body, dictionary)
                },
                withMemory: withMemory,
                onInexact: { [self] in
                    reportInexact(key, key.coding, dictionary: key.dictionary, in: key.scope, on: route)
                }))
    }
}

extension CodingLevels {
    /// Returns the size of a body in the best of some codings without a dictionary, or as it is; nil if there is no memory
    /// to encode it.
    ///
    /// Levels that take long are capped, since they would occupy the calling thread for seconds.
    func leastBytes(of body: [UInt8], in codings: [ContentCoding], _ memory: MemoryBudget) -> Int? {
        var best = body.count
        for coding in codings {
            let options = EncoderOptions(bodyBytes: body.count, level: givenForStream(coding))
            let size = memory.lend(Codec.memoryEstimate(for: coding, options: options)) {
                try? Codec.encode(body.span, coding, options: options).count
            }
            guard let size else { return nil }
            best = min(best, size ?? best)
        }
        return best
    }
}
