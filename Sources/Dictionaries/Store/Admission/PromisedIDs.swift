/// The ids of bodies that were offered before they had come whole, when no digest was known to make an id of.
///
/// In memory alone and within a bound: after a restart, or where many came since, such a client is not known and gets
/// the whole response once. Safe from any thread.
package final class PromisedIDs: Sendable {
    /// What an id was given for.
    private struct Promise {
        let digest: Digest
        let chain: ChainKey
    }

    private let promises: Guarded<RecencyMap<String, Promise>>

    /// Keeps ids within so many bytes.
    package init(bytesMax: Int = 4 << 20) {
        promises = Guarded(RecencyMap(bytesMax: bytesMax))
    }

    /// Notes what a body has turned out to be.
    package func keep(_ id: String, for digest: Digest, in chain: ChainKey) {
        let bytes = id.utf8.count + chain.authority.utf8.count + chain.match.utf8.count
        _ = promises.withLock { $0.insert(Promise(digest: digest, chain: chain), bytes: bytes, for: id) }
    }

    /// The chain in which a client was given this body under this id.
    ///
    /// An id is looked up as a whole by a keyed hash, so the time tells nothing of those that are here.
    package func chain(of digest: Digest, id: String) -> ChainKey? {
        guard let promise = promises.withLock({ $0.value(id) }), promise.digest == digest else { return nil }
        return promise.chain
    }
}
