extension DictionaryIndex {
    /// One thread's view of the index: always the newest, never waiting for a writer.
    ///
    /// Not Sendable: each event loop makes its own with `DictionaryStore.reader()`.
    package final class Reader {
        private let publisher: IndexPublisher
        private var generation = -1
        private var snapshot = DictionaryIndex()

        init(_ publisher: IndexPublisher) {
            self.publisher = publisher
        }

        /// A version with this digest in a public chain of the authority whose `match` fits the URL.
        package func find(digest: Digest, authority: String, path: String, query: String?) -> Version? {
            refresh()
            return snapshot.find(digest: digest, authority: authority, path: path, query: query)
        }

        /// The newest version of a URL and variant.
        package func newest(chain: ChainKey, url: String, variant: String) -> Version? {
            refresh()
            return usable(snapshot.newest(chain: chain, url: url, variant: variant))
        }

        /// The newest version of a URL and variant whose answer had this entity tag.
        package func version(chain: ChainKey, url: String, variant: String, etag: String) -> Version? {
            refresh()
            return usable(snapshot.version(chain: chain, url: url, variant: variant, etag: etag))
        }

        /// The newest version of a URL, of those whose variant fits, that has a head to ask the upstream about.
        package func newestWithHead(
            chain: ChainKey, url: String, values: (String) -> String?
        ) -> (version: Version, head: [UInt8])? {
            refresh()
            for version in snapshot.versions(of: chain).reversed()
            where version.url == url && version.head != nil {
                guard let head = version.head?.bytes, VariantKey.fits(version.variant, values: values) else {
                    continue
                }
                return (version, head)
            }
            return nil
        }

        /// A version of the chain with this digest, whatever its URL.
        package func version(chain: ChainKey, digest: Digest) -> Version? {
            refresh()
            return usable(snapshot.version(chain: chain, digest: digest))
        }

        /// The version that Links of this chain and variant name.
        package func named(chain: ChainKey, variant: String, now: Int) -> Version? {
            refresh()
            return usable(snapshot.named(chain: chain, variant: variant, now: now))
        }

        /// The version with a path of its own, if a Link may have named it.
        package func linked(_ path: DictionaryPath, authority: String, now: Int) -> Version? {
            refresh()
            return usable(snapshot.linked(path, authority: authority, now: now))
        }

        /// Whether a body with this digest is in the chain.
        package func contains(chain: ChainKey, digest: Digest) -> Bool {
            version(chain: chain, digest: digest) != nil
        }

        /// A version that no route of today would make is as if it were not there.
        private func usable(_ version: Version?) -> Version? {
            version.flatMap { $0.isCurrent ? $0 : nil }
        }

        private func refresh() {
            // The number is read before the index: an index that is newer than its number is fetched once more.
            let newest = publisher.newestGeneration
            guard newest != generation else { return }
            snapshot = publisher.index
            generation = newest
        }
    }
}
