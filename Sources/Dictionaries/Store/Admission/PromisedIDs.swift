/// The ids of bodies that were offered before they were complete, when no digest was known to derive an id
/// from.
///
/// They are kept in memory only, within a bound. After a restart, or once newer ids displaced one, its client
/// gets one complete response. Safe from any thread.
package final class PromisedIDs: Sendable {
    /// The body that an id was given for.
    private struct Promise {
        let digest: Digest
        let chain: ChainKey
    }

    private let promises: Guarded<RecencyMap<String, Promise>>

    /// Makes a table of at most `bytesMax` bytes.
    package init(bytesMax: Int = 4 << 20) {
        promises = Guarded(RecencyMap(bytesMax: bytesMax))
    }

    /// Records the digest of a promised body, now that the body is complete.
    package func keep(_ id: String, for digest: Digest, in chain: ChainKey) {
        let bytes = id.utf8.count + chain.authority.utf8.count + chain.match.utf8.count
        _ = promises.withLock { $0.insert(Promise(digest: digest, chain: chain), bytes: bytes, for: id) }
    }

    /// Returns the chain in which a client was given this body under this id.
    ///
    /// The table finds an id as a whole by a keyed hash, so the response time reveals nothing about other
    /// ids.
    package func chain(of digest: Digest, id: String) -> ChainKey? {
        guard let promise = promises.withLock({ $0.value(id) }), promise.digest == digest else { return nil }
        return promise.chain
    }
}
