/// What the store does for private versions alone.
extension DictionaryStore {
    /// A larger body would turn over too much of the store, or of the part that private versions have.
    func bodyBytesMax(in scope: ChainKey.Scope) -> Int {
        scope.isPrivate ? min(bodyBytesMax, configuration.privateBytesMax / 4) : bodyBytesMax
    }

    /// Who may get what is made of the bodies of a chain.
    package func deltaScope(of chain: ChainKey) -> DeltaScope {
        guard let tag = chain.scope.tag else { return chain.scope == .unlisted ? .unlisted : .public }
        return .private(chain: keys?.name(of: chain, tag) ?? tag.bytes)
    }

    /// Keeps private versions to their own budget: those that were wanted the longest ago go, a few more than must.
    ///
    /// An identity is free to make up, so they may not take the chains of public routes either: a quarter at most.
    func keepPrivateBounded() {
        let bytesMax = configuration.privateBytesMax
        // Under the lock, as one that is just being replaced is counted twice.
        let index = publisher.index
        var (chainsMax, bytes, chains) = state.withLock {
            ($0.limits.privateChains, index.privateBytes, index.privateChainCount)
        }
        guard bytes > bytesMax || chains > chainsMax else { return }
        let versions = index.allVersions().filter { $0.chain.scope.isPrivate }
            .sorted { ($0.lastWanted, $0.rank) < ($1.lastWanted, $1.rank) }
        var left: [ChainKey: Int] = [:]
        for version in versions { left[version.chain, default: 0] += 1 }
        var victims: [Version] = []
        for version in versions where bytes > bytesMax - bytesMax / 32 || chains > chainsMax - chainsMax / 32
        {
            victims.append(version)
            bytes -= version.privateBytes
            left[version.chain, default: 0] -= 1
            if left[version.chain] == 0 { chains -= 1 }
        }
        evict(victims, reason: .private)
    }

    // MARK: Opening

    /// Where there are keys there may be something private: nobody else may read the files, whatever mode they were made with.
    func restrictFiles() {
        guard configuration.keys != nil, configuration.path != ":memory:" else { return }
        switch StoreFile.restrict(configuration.path) {
        case true?:
            configuration.log(
                .warning("others could read the store \(configuration.path): its files have mode 0600 now"))
        case nil:
            configuration.log(
                .warning(
                    "others can read the store \(configuration.path), and its mode cannot be changed: chmod 600 it"
                ))
        case false?: break
        }
    }

    /// The private versions of a database that was opened; those that nobody can use are removed.
    func privateVersions(_ database: StoreDatabase) throws(StoreDatabaseError) -> [Version] {
        let mayChange = disk.withLock { $0.waitingSince == nil }
        switch configuration.privateRows {
        case .untouched:
            return []
        case .removed:
            let count = mayChange ? (try? database.removeAllPrivate()) ?? 0 : 0
            if count > 0 {
                configuration.log(
                    .info("removed \(count) private dictionaries from the store: no route is private now"))
            }
            return []
        case .used:
            let found = try database.privateVersions()
            guard mayChange, !found.unusableChains.isEmpty else { return found.versions }
            // Without effect where the disk takes nothing; they are not used in any case.
            try? database.removePrivate(chains: found.unusableChains)
            configuration.log(
                .warning(
                    "removed \(found.unusableVersions) private dictionaries from the store: they were made with "
                        + "another key than that of store.key_file, or damaged"))
            return found.versions
        }
    }
}
