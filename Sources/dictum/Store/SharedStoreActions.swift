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

            init(_ entry: SharedCatalogue.Entry) {
                (authority, match, sha256) = (entry.chain.authority, entry.chain.match, entry.digest.hex)
                (bytes, admittedAt) = (entry.bytes, entry.admittedAt)
            }

            var cells: [String] {
                [authority, match, OutputFormat.time(admittedAt), OutputFormat.size(bytes), sha256]
            }
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
        let versions = chosen.map(Listing.Version.init)
        var summary = OutputFormat.count(chosen.count, "version")
        if sealed > 0 { summary += "; not listed: \(OutputFormat.count(sealed, "sealed version"))" }
        if unannounced > 0 { summary += "; without an announcement: \(unannounced)" }
        try StandardOutput.write(
            Listing(versions: versions, sealedVersions: sealed, unannouncedVersions: unannounced),
            isJSON: isJSON, versions.map(\.cells),
            under: ["AUTHORITY", "MATCH", "ADMITTED", "SIZE", "SHA256"], summary)
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
        var summary =
            "\(OutputFormat.count(check.versions, "version")) read, \(OutputFormat.size(check.bytes)) intact, "
            + "\(check.damaged.count) damaged"
        if repairs { summary += ", \(check.removedVersions) removed" }
        if check.uncheckedVersions > 0 {
            summary +=
                "; not read: \(check.uncheckedVersions), sealed without store.key_file here, or of a newer release"
        }
        let damaged = check.damaged.map { "damaged: \(OutputFormat.plain($0))" }
        try StandardOutput.write(check, isJSON: isJSON, (damaged + [summary]).joined(separator: "\n"))
        if !check.damaged.isEmpty && !repairs { throw ExitCode.failure }
    }

    /// Removes the versions with these digests, or of these chains; without any, every key of the prefix.
    func remove(_ digests: [DigestArgument], _ conditions: ConditionOptions, isAll: Bool, isDryRun: Bool)
        throws
    {
        let keys = try catalogue.versionKeys()
        // Without conditions the keys are enough, whatever has become of the announcements.
        let entries =
            try conditions.given.isEmpty
            ? (try? catalogue.entries(among: keys)) ?? [] : catalogue.entries(among: keys)
        let chosen =
            try isAll
            ? keys : digests.isEmpty ? keysOf(conditions, among: entries) : keysOf(digests, among: keys)
        if !isDryRun {
            if isAll { try catalogue.removeAll() } else { try catalogue.remove(chosen) }
        }
        let announced = Dictionary(entries.map { ($0.key, $0) }) { first, _ in first }
        let removed = chosen.compactMap { key in
            announced[key].map { RemovalReport.Entry($0) }
                ?? SharedName(key: key).map { RemovalReport.Entry($0) }
        }
        try RemovalReport(removed, isDryRun: isDryRun).write(isJSON: isJSON)
    }

    private func keysOf(_ digests: [DigestArgument], among keys: [String]) throws -> [String] {
        let names = keys.compactMap { key in SharedName(key: key).map { (key, $0.digest) } }
        let chosen = try Set(digests.map { try $0.choose(among: names.map(\.1), in: catalogue.url) })
        return names.filter { chosen.contains($0.1) }.map(\.0)
    }

    private func keysOf(_ conditions: ConditionOptions, among entries: [SharedCatalogue.Entry]) throws
        -> [String]
    {
        let chosen = try self.chosen(conditions, among: entries)
        guard !chosen.isEmpty else {
            throw CommandError("no version in \(catalogue.url) has \(conditions.text)")
        }
        try conditions.requireOneHost(chosen.map(\.chain.authority))
        return chosen.map(\.key)
    }

    /// Returns the entries that meet every condition; what their URLs are is not announced.
    private func chosen(_ conditions: ConditionOptions, among entries: [SharedCatalogue.Entry]) throws
        -> [SharedCatalogue.Entry]
    {
        let purge = try conditions.purge(configuration)
        return entries.filter { purge.includes($0.chain, url: nil, rank: 0) }
    }
}
