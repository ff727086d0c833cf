package import Dictionaries
internal import Primitives
internal import Synchronization

extension DictionaryIndex {
    /// One thread's view of the index, always the newest.
    ///
    /// Not Sendable: each event loop makes its own with `DictionaryStore.reader()`.
    package final class Reader {
        private let publisher: IndexPublisher
        private var generation = -1
        private var known: DictionaryIndex
        private let keys: StoreKeys?

        init(_ publisher: IndexPublisher, keys: StoreKeys? = nil) {
            self.publisher = publisher
            known = publisher.index
            self.keys = keys
        }

        /// Returns a version with this digest in a chain of the authority and the scope whose `match` covers
        /// the URL.
        ///
        /// If very many chains hold the body, only some of them are examined, and then `ownChain`: the chain
        /// that the response to this URL would belong to. Another identity's version has another name, and is
        /// missed like one that does not exist.
        package func find(
            digest: Digest, authority: String, scope: ChainKey.Scope = .public, url: PathAndQuery,
            ownChain: @autoclosure () -> ChainKey? = nil
        ) -> Version? {
            let name = scope.name(of: digest, keys)
            if let found = index.find(digest: name, authority: authority, scope: scope, url: url) {
                return found
            }
            return ownChain().flatMap { version(chain: $0, digest: digest) }
        }

        package func newest(_ key: VersionKey) -> Version? {
            return usable(index.newest(key.named(keys)))
        }

        /// Returns the newest version of a key, if it has this digest and this entity tag.
        package func newest(_ key: VersionKey, digest: Digest, etag: String?) -> Version? {
            let scope = key.chainKey.scope
            guard let newest = newest(key), newest.digest == scope.name(of: digest, keys),
                newest.had(etag: etag.map { scope.name(of: $0, as: .entityTag, keys) })
            else { return nil }
            return newest
        }

        /// Returns the newest version of a key whose response had this entity tag.
        package func version(_ key: VersionKey, etag: String) -> Version? {
            let tag = key.chainKey.scope.name(of: etag, as: .entityTag, keys)
            return usable(index.version(key.named(keys), etag: tag))
        }

        package func version(_ key: VersionKey, digest: Digest) -> Version? {
            return usable(index.version(key.named(keys), digest: key.chainKey.scope.name(of: digest, keys)))
        }

        package func version(row: Int64) -> Version? { usable(index.version(row: row)) }

        /// Returns the newest version of a URL with a head for revalidation, if its variant fits the request.
        package func newestWithHead(chain: ChainKey, url: String, values: (String) -> [UInt8]?) -> Version? {
            return index.newestWithHead(chain, url: url) {
                $0.isCurrent && VariantKey.fits($0.variant, values: values)
            }
        }

        /// Returns a version of the chain with this digest, for any URL.
        package func version(chain: ChainKey, digest: Digest) -> Version? {
            return usable(index.version(chain, digest: chain.scope.name(of: digest, keys)))
        }

        /// Returns true if a client was given this body of a chain under an id with this tag, before the body was
        /// complete.
        ///
        /// The table finds a tag as a whole by a keyed hash, so the time tells nothing about other ids.
        package func isPromised(_ tag: PromisedTag, of digest: Digest, in chain: ChainKey) -> Bool {
            return index.isPromised(tag, in: chain) { chain.scope.name(of: digest, keys) }
        }

        package func named(chain: ChainKey, variant: String, now: Int) -> Version? {
            return usable(index.named(chain, variant: variant, now: now))
        }

        /// Returns a few of the newest versions of a chain, the newest first, for any URL.
        package func recent(of chain: ChainKey) -> [Version] {
            return index.recent(chain).filter(\.isCurrent)
        }

        /// Returns the versions of a chain that Links name or named recently, for any variant.
        package func named(of chain: ChainKey, now: Int) -> [Version] {
            return index.named(chain, now: now).filter(\.isCurrent)
        }

        /// Returns the version with a path of its own, if a Link may have named it.
        package func linked(_ path: DictionaryPath, authority: String, now: Int) -> Version? {
            return usable(index.linked(path, authority: authority, now: now))
        }

        /// Hides a version that no present route would make.
        private func usable(_ version: Version?) -> Version? {
            version.flatMap { $0.isCurrent ? $0 : nil }
        }

        /// The newest index.
        private var index: DictionaryIndex {
            // Read the number before the index. If the index is newer than its number, it is fetched once more.
            let newest = publisher.newestGeneration
            if newest != generation {
                known = publisher.index
                generation = newest
            }
            return known
        }
    }
}

/// The reference to the index that all readers share; it changes when the database is opened again.
///
/// A reader that finds the generation unchanged touches nothing else that is shared.
final class IndexPublisher: Sendable {
    private let current: Guarded<DictionaryIndex>
    private let generation = Atomic<Int>(0)

    init(_ index: DictionaryIndex) {
        current = Guarded(index)
    }

    var newestGeneration: Int { generation.load(ordering: .acquiring) }

    var index: DictionaryIndex { current.withLock { $0 } }

    /// Makes this the index that every reader uses from its next look-up on.
    func publish(_ index: DictionaryIndex) {
        // Hand the former index out of the lock, so that freeing it makes no reader wait.
        let former = current.withLock { current in
            let former = current
            current = index
            return former
        }
        _ = former
        generation.add(1, ordering: .releasing)
    }
}
