extension DictionaryIndex {
    /// One thread's view of the index, always the newest.
    ///
    /// Not Sendable: each event loop makes its own with `DictionaryStore.reader()`.
    package final class Reader {
        private let publisher: IndexPublisher
        private var generation = -1
        private var index: DictionaryIndex
        private let keys: StoreKeys?

        init(_ publisher: IndexPublisher, keys: StoreKeys? = nil) {
            self.publisher = publisher
            index = publisher.index
            self.keys = keys
        }

        /// A version with this digest in a chain of the authority and the scope whose `match` fits the URL.
        ///
        /// Of very many chains that hold one body not all are looked at, but `ownChain` is: the one that the URL's answer
        /// would belong to, which is asked for where no other was found. What another identity has is looked for under another name, and missed like what nobody has.
        package func find(
            digest: Digest, authority: String, scope: ChainKey.Scope = .public, path: String, query: String?,
            ownChain: @autoclosure () -> ChainKey? = nil
        ) -> Version? {
            refresh()
            let name = scope.name(of: digest, keys)
            if let found = index.find(
                digest: name, authority: authority, scope: scope, path: path, query: query)
            {
                return found
            }
            return ownChain().flatMap { version(chain: $0, digest: digest) }
        }

        /// The newest version of a URL and variant.
        package func newest(chain: ChainKey, url: String, variant: String) -> Version? {
            refresh()
            return usable(
                index.newest(
                    chain, url: chain.scope.name(of: url, as: .url, keys),
                    variant: chain.scope.name(of: variant, as: .variant, keys)))
        }

        /// The newest version of a URL and variant, if it is this body with this entity tag.
        package func newest(chain: ChainKey, url: String, variant: String, digest: Digest, etag: String?)
            -> Version?
        {
            guard let newest = newest(chain: chain, url: url, variant: variant),
                newest.digest == chain.scope.name(of: digest, keys),
                newest.had(etag: etag.map { chain.scope.name(of: $0, as: .entityTag, keys) })
            else { return nil }
            return newest
        }

        /// The newest version of a URL and variant whose answer had this entity tag.
        package func version(chain: ChainKey, url: String, variant: String, etag: String) -> Version? {
            refresh()
            return usable(
                index.version(
                    chain, url: chain.scope.name(of: url, as: .url, keys),
                    variant: chain.scope.name(of: variant, as: .variant, keys),
                    etag: chain.scope.name(of: etag, as: .entityTag, keys)))
        }

        /// The newest version of a URL, of those whose variant fits, that has a head to ask the upstream about.
        package func newestWithHead(
            chain: ChainKey, url: String, values: (String) -> String?
        ) -> Version? {
            refresh()
            return index.newestWithHead(chain, url: url) {
                $0.isCurrent && VariantKey.fits($0.variant, values: values)
            }
        }

        /// A version of the chain with this digest, whatever its URL.
        package func version(chain: ChainKey, digest: Digest) -> Version? {
            refresh()
            return usable(index.version(chain, digest: chain.scope.name(of: digest, keys)))
        }

        /// The version that Links of this chain and variant name.
        package func named(chain: ChainKey, variant: String, now: Int) -> Version? {
            refresh()
            return usable(index.named(chain, variant: variant, now: now))
        }

        /// The newest versions of a chain, the newest first, whatever their URLs; a few at most.
        package func recent(of chain: ChainKey) -> [Version] {
            refresh()
            return index.recent(chain).filter(\.isCurrent)
        }

        /// The versions of a chain that Links name or named of late, whatever their variants.
        package func named(of chain: ChainKey, now: Int) -> [Version] {
            refresh()
            return index.named(chain, now: now).filter(\.isCurrent)
        }

        /// The version with a path of its own, if a Link may have named it.
        package func linked(_ path: DictionaryPath, authority: String, now: Int) -> Version? {
            refresh()
            return usable(index.linked(path, authority: authority, now: now))
        }

        /// Whether a body with this digest is in the chain.
        package func contains(chain: ChainKey, digest: Digest) -> Bool {
            version(chain: chain, digest: digest) != nil
        }

        /// The version that a body makes when it returns.
        package func version(chain: ChainKey, url: String, variant: String, digest: Digest) -> Version? {
            refresh()
            return usable(
                index.version(
                    chain, url: chain.scope.name(of: url, as: .url, keys),
                    variant: chain.scope.name(of: variant, as: .variant, keys),
                    digest: chain.scope.name(of: digest, keys)))
        }

        /// Whether the chain has any version.
        package func holds(_ chain: ChainKey) -> Bool {
            refresh()
            return index.chain(chain) != nil
        }

        /// A version that no route of today would make is as if it were not there.
        private func usable(_ version: Version?) -> Version? {
            version.flatMap { $0.isCurrent ? $0 : nil }
        }

        private func refresh() {
            // The number is read before the index: an index that is newer than its number is fetched once more.
            let newest = publisher.newestGeneration
            guard newest != generation else { return }
            index = publisher.index
            generation = newest
        }
    }
}
