internal import Dictionaries

/// Removes versions and reports them.
struct StoreRemoval {
    let isDryRun: Bool
    let isJSON: Bool
    /// True if versions that were wanted after they were read stay.
    var sparesWanted = false

    private struct Report: Encodable {
        struct Entry: Encodable {
            let sha256: String
            let authority: String
            let url: String
            let bytes: Int
            let cause: String?
        }
        let isDryRun: Bool
        let count: Int
        let bytes: Int
        let versions: [Entry]

        enum CodingKeys: String, CodingKey {
            case versions
            case isDryRun = "dry_run"
            case count = "removed_versions"
            case bytes = "removed_bytes"
        }
    }

    /// Removes versions, prints one line per version and the total, and returns the space to the file system.
    ///
    /// Versions removed before an error are reported too.
    func remove(
        _ versions: [Version], from catalogue: StoreCatalogue, why: (Version) -> String? = { _ in nil }
    ) throws {
        var removed = isDryRun ? versions : []
        let outcome = Result {
            guard !isDryRun else { return }
            try catalogue.remove(versions, sparingWanted: sparesWanted) { removed += $0 }
            if !removed.isEmpty { try catalogue.shrink() }
        }
        print(isJSON ? json(removed, why) : text(removed, why))
        try outcome.get()
    }

    private func json(_ removed: [Version], _ why: (Version) -> String?) -> String {
        StoreText.json(
            Report(
                isDryRun: isDryRun, count: removed.count, bytes: removed.reduce(0) { $0 + $1.bytes },
                versions: removed.map {
                    .init(
                        sha256: $0.digest.hex, authority: $0.chainKey.authority, url: $0.url, bytes: $0.bytes,
                        cause: why($0))
                }))
    }

    private func text(_ removed: [Version], _ why: (Version) -> String?) -> String {
        let sum =
            "\(StoreText.count(removed.count, "version")) \(isDryRun ? "would be removed" : "removed"), "
            + StoreText.size(removed.reduce(0) { $0 + $1.bytes })
        guard !removed.isEmpty else { return sum }
        let rows = removed.map { version in
            [
                String(version.digest.hex.prefix(16)), version.chainKey.authority + version.url,
                StoreText.size(version.bytes), why(version),
            ].compactMap(\.self)
        }
        return StoreText.table(rows) + "\n" + sum
    }
}
