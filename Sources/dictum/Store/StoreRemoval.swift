internal import Dictionaries

/// Removes versions and says which.
struct StoreRemoval {
    let isDryRun: Bool
    /// Whether what was wanted since it was read stays.
    var sparesWanted = false

    /// One line a version, with a word on why where there is one, and the sum; gives the room back to the disk.
    func remove(_ versions: [Version], from catalog: StoreCatalog, why: (Version) -> String = { _ in "" })
        throws
    {
        let removed = isDryRun ? versions : try catalog.remove(versions, sparingWanted: sparesWanted)
        if !removed.isEmpty {
            print(
                StoreText.table(
                    removed.map { version in
                        [
                            String(version.digest.hex.prefix(16)), version.chain.authority + version.url,
                            StoreText.size(version.bytes), why(version),
                        ].filter { !$0.isEmpty }
                    }))
        }
        let bytes = removed.reduce(0) { $0 + $1.bytes }
        print(
            "\(StoreText.count(removed.count, "version")) \(isDryRun ? "would be removed" : "removed"), "
                + StoreText.size(bytes))
        if !removed.isEmpty, !isDryRun { try catalog.shrink() }
    }
}
