internal import ArgumentParser
internal import Dictionaries
internal import Proxy
internal import Storage

/// `list`, `verify` and `rm` of the store that several proxies share.
struct SharedStoreActions {
    let catalogue: SharedCatalogue
    let configuration: Configuration
    let isJSON: Bool

    private struct Listing: Encodable {
        struct Version: Encodable {
            let authority: String
            let match: String
            let sha256: String
            let bytes: Int
            let admittedAt: Int
        }
        let versions: [Version]
        let sealedVersions: Int
        let unannouncedVersions: Int
    }

    /// Prints the announced versions that the server has; sealed ones are counted.
    func list(_ conditions: ConditionOptions) throws {
        let keys = try catalogue.versionKeys()
        let sealed = keys.count { SharedName(key: $0)?.isSealed == true }
        let entries = try catalogue.entries(among: keys)
        let chosen = try self.chosen(conditions, among: entries)
        let unannounced = keys.count - sealed - entries.count
        if isJSON {
            let versions = chosen.map {
                Listing.Version(
                    authority: $0.chain.authority, match: $0.chain.match, sha256: $0.digest.hex,
                    bytes: $0.bytes, admittedAt: $0.admittedAt)
            }
            return try StandardOutput.write(
                OutputFormat.json(
                    Listing(versions: versions, sealedVersions: sealed, unannouncedVersions: unannounced)))
        }
        let rows = chosen.map {
            [
                $0.chain.authority, $0.chain.match, OutputFormat.time($0.admittedAt),
                OutputFormat.size($0.bytes), $0.digest.hex,
            ]
        }
        if !rows.isEmpty {
            try StandardOutput.write(
                OutputFormat.table([["AUTHORITY", "MATCH", "ADMITTED", "SIZE", "SHA256"]] + rows))
        }
        var summary = OutputFormat.count(chosen.count, "version")
        if sealed > 0 { summary += "; not listed: \(OutputFormat.count(sealed, "sealed version"))" }
        if unannounced > 0 { summary += "; without an announcement: \(unannounced)" }
        try StandardOutput.write(summary)
    }

    private struct Check: Encodable {
        var versions = 0
        var bytes = 0
        var damaged: [String] = []
        var removedVersions = 0
        var uncheckedVersions = 0
    }

    /// Reads every version and compares it with its name; removes damaged ones with `repairs`.
    func verify(repairs: Bool) throws {
        var check = Check()
        for key in try catalogue.versionKeys() {
            switch try catalogue.verify(key) {
            case .sound(let bytes):
                check.versions += 1
                check.bytes += bytes
            case .damaged:
                check.versions += 1
                check.damaged.append(key)
            case .unknown: check.uncheckedVersions += 1
            case .gone: break
            }
        }
        if repairs {
            try catalogue.remove(check.damaged)
            check.removedVersions = check.damaged.count
        }
        if isJSON {
            try StandardOutput.write(OutputFormat.json(check))
        } else {
            for key in check.damaged { try StandardOutput.write("damaged: \(OutputFormat.plain(key))") }
            var summary =
                "\(OutputFormat.count(check.versions, "version")) read, \(OutputFormat.size(check.bytes)) intact, "
                + "\(check.damaged.count) damaged"
            if repairs { summary += ", \(check.removedVersions) removed" }
            if check.uncheckedVersions > 0 {
                summary +=
                    "; not read: \(check.uncheckedVersions), sealed without store.key_file here, or of a newer release"
            }
            try StandardOutput.write(summary)
        }
        if !check.damaged.isEmpty && !repairs { throw ExitCode.failure }
    }

    private struct Removal: Encodable {
        let removed: Int
        let isDryRun: Bool
    }

    /// Removes the versions with these digests, or of these chains; without any, everything.
    func remove(_ digests: [DigestArgument], _ conditions: ConditionOptions, isAll: Bool, isDryRun: Bool)
        throws
    {
        if isAll, !isDryRun { return try report(catalogue.removeAll(), "key", isDryRun) }
        let keys = try catalogue.versionKeys()
        if isAll { return try report(keys.count, "version", isDryRun) }
        let chosen =
            try digests.isEmpty
            ? self.chosen(conditions, among: catalogue.entries(among: keys)).map(\.key)
            : keys.filter { key in
                SharedName(key: key).map { name in digests.contains { $0.names(name.digest) } } ?? false
            }
        guard !chosen.isEmpty else {
            throw CommandError(
                "no version in \(catalogue.url) has \(digests.isEmpty ? conditions.text : "such a digest")")
        }
        if !isDryRun { try catalogue.remove(chosen) }
        try report(chosen.count, "version", isDryRun)
    }

    /// Returns the entries that meet every condition; what their URLs are is not announced.
    private func chosen(_ conditions: ConditionOptions, among entries: [SharedCatalogue.Entry]) throws
        -> [SharedCatalogue.Entry]
    {
        let purge = try conditions.purge(configuration)
        return entries.filter { purge.includes($0.chain, url: nil, rank: 0) }
    }

    private func report(_ count: Int, _ noun: String, _ isDryRun: Bool) throws {
        if isJSON {
            return try StandardOutput.write(OutputFormat.json(Removal(removed: count, isDryRun: isDryRun)))
        }
        try StandardOutput.write((isDryRun ? "would remove " : "removed ") + OutputFormat.count(count, noun))
    }
}
