package import Dictionaries

extension DictionaryIndex {
    /// The look-ups of requests, which name what they look for as it is under the store's keys.
    package final class Reader: Sendable {
        private let index: DictionaryIndex
        private let keys: StoreKeys?

        init(_ index: DictionaryIndex, keys: StoreKeys? = nil) {
            self.index = index
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
            usable(index.newest(key.named(keys)))
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
            usable(index.version(key.named(keys), digest: key.chainKey.scope.name(of: digest, keys)))
        }

        package func version(row: Int64) -> Version? { usable(index.version(row: row)) }

        /// Returns the newest version of a URL with a head for revalidation, if its variant fits the request.
        package func newestWithHead(chain: ChainKey, url: String, values: (String) -> [UInt8]?) -> Version? {
            index.newestWithHead(chain, url: url) {
                $0.isCurrent && VariantKey.fits($0.variant, values: values)
            }
        }

        /// Returns a version of the chain with this digest, for any URL.
        package func version(chain: ChainKey, digest: Digest) -> Version? {
            usable(index.version(chain, digest: chain.scope.name(of: digest, keys)))
        }

        /// Returns true if a client was given this body of a chain under an id with this tag, before the body was
        /// complete.
        ///
        /// The table finds a tag as a whole by a keyed hash, so the time tells nothing about other ids.
        package func isPromised(_ tag: PromisedTag, of digest: Digest, in chain: ChainKey) -> Bool {
            index.isPromised(tag, in: chain) { chain.scope.name(of: digest, keys) }
        }

        package func named(chain: ChainKey, variant: String, now: Int) -> Version? {
            usable(index.named(chain, variant: variant, now: now))
        }

        /// Returns a few of the newest versions of a chain, the newest first, for any URL.
        package func recent(of chain: ChainKey) -> [Version] {
            index.recent(chain).filter(\.isCurrent)
        }

        /// Returns the versions of a chain that Links name or named recently, for any variant.
        package func named(of chain: ChainKey, now: Int) -> [Version] {
            index.named(chain, now: now).filter(\.isCurrent)
        }

        /// Returns the version with a path of its own, if a Link may have named it.
        package func linked(_ path: DictionaryPath, authority: String, now: Int) -> Version? {
            usable(index.linked(path, authority: authority, now: now))
        }

        /// Hides a version that no present route would make.
        private func usable(_ version: Version?) -> Version? {
            version.flatMap { $0.isCurrent ? $0 : nil }
        }
    }
}
