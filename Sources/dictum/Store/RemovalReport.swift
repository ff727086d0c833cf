internal import Dictionaries
internal import Storage

/// What `rm` and `prune` have removed, or would remove, from a node's own store or from a shared one.
struct RemovalReport: Encodable {
    /// A removed version; of one in a shared store that is sealed, or that no node has announced, less is known.
    struct Entry: Encodable {
        var sha256: String?
        var authority: String?
        /// The URL of the response; a shared store knows only the pattern, `match`.
        var url: String?
        var match: String?
        var bytes: Int?
        /// The reason of `prune`.
        var cause: String?

        init(_ version: Version, cause: String?) {
            (sha256, authority, url) = (version.digest.hex, version.chainKey.authority, version.url)
            (bytes, self.cause) = (version.bytes, cause)
        }

        init(_ entry: SharedCatalogue.Entry) {
            (sha256, authority, match) = (entry.digest.hex, entry.chain.authority, entry.chain.match)
            bytes = entry.bytes
        }

        /// Makes the entry of a version without an announcement; the name of a sealed one has no digest of its body.
        init(_ name: SharedName) { sha256 = name.isSealed ? nil : name.digest.hex }
    }

    private let dryRun: Bool
    private let removedVersions: Int
    private let removedBytes: Int
    private let versions: [Entry]

    init(_ versions: [Entry], isDryRun: Bool) {
        dryRun = isDryRun
        removedVersions = versions.count
        removedBytes = versions.reduce(0) { $0 + ($1.bytes ?? 0) }
        self.versions = versions
    }

    /// Prints one line per version and the total.
    func write(isJSON: Bool) throws { try StandardOutput.write(self, isJSON: isJSON, text) }

    private var text: String {
        let sum =
            "\(OutputFormat.count(removedVersions, "version")) \(dryRun ? "would be removed" : "removed"), "
            + OutputFormat.size(removedBytes)
        guard !versions.isEmpty else { return sum }
        let rows = versions.map { version in
            [
                version.sha256.map { String($0.prefix(16)) } ?? "sealed",
                version.authority.map { $0 + (version.url ?? version.match ?? "") } ?? "-",
                version.bytes.map { OutputFormat.size($0) } ?? "-", version.cause,
            ].compactMap(\.self)
        }
        return OutputFormat.table(rows) + "\n" + sum
    }
}
