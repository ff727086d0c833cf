/// The part of the store that concerns private versions only.
extension DictionaryStore {
    /// Returns the largest body for a scope: a larger one would displace too much of the store, or of the
    /// private share.
    func bodyBytesMax(in scope: ChainKey.Scope) -> Int {
        scope.isPrivate ? min(bodyBytesMax, configuration.privateBytesMax / 4) : bodyBytesMax
    }

    /// Returns the clients that may get deltas made of the bodies of a chain.
    package func deltaScope(of chain: ChainKey) -> DeltaScope {
        guard let tag = chain.scope.tag else { return chain.scope == .unlisted ? .unlisted : .public }
        return .private(chain: keys?.name(of: chain, tag) ?? tag.bytes)
    }

    /// Evicts private versions beyond their own budget, some at a time.
    func keepPrivateBounded() {
        var isMore = true
        while isMore {
            let evicted = state.withLock { state in
                var evicted = StoreState.Evicted()
                isMore = state.keepPrivateBounded(bytesMax: configuration.privateBytesMax, into: &evicted)
                return evicted
            }
            account(evicted)
        }
    }

    /// Records the sealed size of private bodies that were written.
    func noteSealed(_ insertions: [PendingWrites.Insertion]) {
        let written = insertions.filter { $0.version.chain.scope.isPrivate }
        guard !written.isEmpty else { return }
        state.withLock { state in
            for insertion in written {
                // Another object may stand for the row by now.
                let version = state.index.version(row: insertion.version.id) ?? insertion.version
                let bytes = insertion.packed?.frame.count ?? insertion.body.count
                version.sealedBytes = bytes + SealedBytes.overheadBytes
                state.privateOrder.resize(version)
            }
        }
    }

    // MARK: Opening

    /// Restricts the files to their owner if the store has keys and may hold private data.
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

    /// Returns the private versions of an opened database, and removes those that nobody can use.
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
            // If the disk fails, they stay there, but are not used.
            try? database.removePrivate(chains: found.unusableChains)
            configuration.log(
                .warning(
                    "removed \(found.unusableVersions) private dictionaries from the store: they were made with "
                        + "another key than that of store.key_file, or damaged"))
            return found.versions
        }
    }
}
