internal import Dictionaries
internal import Foundation
internal import HTTP

/// A client's dictionaries in a folder: a record (JSON) each, and a file of bytes named by its digest.
///
/// Several processes may share the folder: files appear whole, by renaming, and bytes are believed only after their
/// digest has been compared. What cannot be read is removed and counts as not there.
struct DictionaryCache: Sendable {
    private static let recordBytesMax = 64 << 10
    private static let bodyExtension = ".dictum.body"
    /// A file without a record may be one that another process is about to record.
    private static let orphanSeconds: TimeInterval = 60

    /// The folder.
    let directory: String
    /// The largest dictionary that is kept.
    var dictionaryBytesMax = 64 << 20
    /// All bytes together; beyond it the oldest go first.
    var totalBytesMax = 256 << 20
    /// How many dictionaries are kept.
    var countMax = 1_000

    /// The dictionary to offer for a URL, if there is one: the best whose bytes are intact.
    func best(for url: FetchURL, at now: Int64) -> HeldDictionary? {
        for record in CachedDictionary.ranked(records(), for: url, at: now) {
            if let held = load(record) { return held }
        }
        return nil
    }

    /// The dictionary that came from exactly this URL, whether it has expired or not.
    func own(of url: FetchURL) -> HeldDictionary? {
        let own = records().filter { $0.url == url.text }
        return own.max { $0.storedAt < $1.storedAt }.flatMap(load)
    }

    /// Keeps a dictionary, in place of an older one of the same match, and makes room where there is too much.
    ///
    /// Returns false, and keeps nothing, where it is too large.
    func store(_ record: CachedDictionary, _ body: Body) throws(SystemError) -> Bool {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard body.count <= dictionaryBytesMax, let json = try? encoder.encode(record),
            json.count <= Self.recordBytesMax
        else { return false }
        // If this fails, so do the writes, and they know why.
        try? FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        // The bytes first: a record never names what is not there.
        try DurableFile.write(body.bytes, to: path(record.digest + Self.bodyExtension))
        try DurableFile.write([UInt8](json), to: path(record.fileName))
        tidy()
        return true
    }

    /// Forgets a dictionary.
    func remove(_ record: CachedDictionary) {
        remove(record.fileName)
        tidy()
    }

    /// Reads the records; those that are not ours to understand are removed.
    private func records() -> [CachedDictionary] {
        names(endingIn: CachedDictionary.fileExtension).prefix(countMax * 2).compactMap { name in
            guard let bytes = read(name, max: Self.recordBytesMax),
                let record = try? JSONDecoder().decode(CachedDictionary.self, from: Data(bytes)),
                record.format == CachedDictionary.currentFormat, record.fileName == name,
                Digest(hex: record.digest) != nil
            else {
                remove(name)
                return nil
            }
            return record
        }
    }

    /// The bytes of a dictionary; nil, and both files removed, where they are not what the record says.
    private func load(_ record: CachedDictionary) -> HeldDictionary? {
        if let bytes = read(record.digest + Self.bodyExtension, max: dictionaryBytesMax) {
            let body = Body(bytes)
            if body.digest.hex == record.digest { return HeldDictionary(record: record, body: body) }
        }
        remove(record.digest + Self.bodyExtension)
        remove(record.fileName)
        return nil
    }

    /// Removes the oldest records beyond the limits, then the files that nothing names any more.
    private func tidy() {
        var named: Set<String> = []
        var total = 0
        for (index, record) in records().sorted(by: { $0.storedAt > $1.storedAt }).enumerated() {
            total += record.bytes
            if index >= countMax || total > totalBytesMax {
                remove(record.fileName)
            } else {
                named.insert(record.digest + Self.bodyExtension)
            }
        }
        let files = names(endingIn: Self.bodyExtension) + names(endingIn: DurableFile.temporaryExtension)
        for name in files where !named.contains(name) && isOld(name) { remove(name) }
    }

    private func isOld(_ name: String) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path(name))
        guard let changed = attributes?[.modificationDate] as? Date else { return false }
        return -changed.timeIntervalSinceNow > Self.orphanSeconds
    }

    private func names(endingIn suffix: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.filter { $0.hasSuffix(suffix) }
    }

    private func read(_ name: String, max: Int) -> [UInt8]? {
        guard let handle = FileHandle(forReadingAtPath: path(name)),
            let data = try? handle.read(upToCount: max + 1), data.count <= max
        else { return nil }
        return [UInt8](data)
    }

    private func remove(_ name: String) { try? FileManager.default.removeItem(atPath: path(name)) }

    private func path(_ name: String) -> String { "\(directory)/\(name)" }
}

extension Digest {
    /// Takes 64 lower-case hexadecimal digits; nil for anything else.
    fileprivate init?(hex: String) {
        let digits = Array(hex.utf8)
        guard digits.count == 2 * Self.byteCount else { return nil }
        let bytes = stride(from: 0, to: digits.count, by: 2).compactMap { index in
            UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16)
        }
        self.init(bytes: bytes)
        guard self.hex == hex else { return nil }
    }
}
