internal import Dictionaries
internal import Foundation
internal import Glibc
internal import HTTP

/// A client's dictionaries in a folder: a JSON record and a body file for each, the latter named by its digest.
///
/// Several processes may share the folder. Files appear whole, by renaming, and bodies are used only after their
/// digest has been compared. Unreadable files are removed.
struct DictionaryCache: Sendable {
    private static let recordBytesMax = 64 << 10
    private static let bodyExtension = ".dictum.body"
    /// A body without a record may belong to another process that is about to write the record.
    private static let orphanSeconds: TimeInterval = 60

    let directory: String
    /// The size of the largest dictionary to keep.
    var dictionaryBytesMax = 64 << 20
    /// The total size of all dictionaries; beyond it, the oldest go first.
    var totalBytesMax = 256 << 20
    /// The number of dictionaries to keep.
    var countMax = 1_000

    /// Returns the dictionary to offer for a URL: the best one whose body is intact.
    func best(for url: FetchURL, at now: Int64) -> HeldDictionary? {
        for record in CachedDictionary.ranked(records(), for: url.target, at: now) {
            if let held = load(record) { return held }
        }
        return nil
    }

    /// Returns the dictionary that came from this URL, even if it has expired.
    func own(of url: FetchURL) -> HeldDictionary? {
        let own = records().filter { $0.url == url.text }
        return own.max { $0.storedAt < $1.storedAt }.flatMap(load)
    }

    /// Keeps a dictionary in place of an older one with the same match, and evicts others if needed.
    ///
    /// Returns false, and keeps nothing, if the dictionary is too large.
    func store(_ record: CachedDictionary, _ body: Body) throws(SystemError) -> Bool {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard body.count <= dictionaryBytesMax, let json = try? encoder.encode(record),
            json.count <= Self.recordBytesMax
        else { return false }
        // If this fails, the writes below fail too and report why.
        try? FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        // The body comes first, so that a record never names a missing body.
        try DurableFile.write(body.bytes, to: path(record.digest + Self.bodyExtension))
        try DurableFile.write([UInt8](json), to: path(record.fileName))
        tidy()
        return true
    }

    func remove(_ record: CachedDictionary) {
        remove(record.fileName)
        tidy()
    }

    /// Reads the records; removes those that are invalid.
    private func records() -> [CachedDictionary] {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return names(endingIn: CachedDictionary.fileExtension).prefix(countMax * 2).compactMap { name in
            guard let bytes = read(name, max: Self.recordBytesMax),
                let record = try? decoder.decode(CachedDictionary.self, from: Data(bytes)),
                record.format == CachedDictionary.currentFormat, record.fileName == name,
                Digest(hex: record.digest) != nil
            else {
                remove(name)
                return nil
            }
            return record
        }
    }

    /// Returns the body of a record; nil, after removing both files, if it does not have the digest.
    private func load(_ record: CachedDictionary) -> HeldDictionary? {
        if let bytes = read(record.digest + Self.bodyExtension, max: dictionaryBytesMax) {
            let body = Body(bytes)
            if body.digest.hex == record.digest { return HeldDictionary(record: record, body: body) }
        }
        remove(record.digest + Self.bodyExtension)
        remove(record.fileName)
        return nil
    }

    /// Removes the oldest records beyond the limits, then the files without a record.
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

/// A cached dictionary whose body has been checked against its digest.
struct HeldDictionary: Sendable {
    let record: CachedDictionary
    let body: Body
}

extension HeldDictionary {
    /// Makes a dictionary for the requests of this process alone.
    init(_ body: Body, url: String = "", offer: UseAsDictionary? = nil) {
        record = CachedDictionary(
            url: url, match: offer?.match ?? "", matchDest: offer?.matchDest ?? [], id: offer?.id ?? "",
            digest: body.digest.hex, bytes: body.count, etag: nil, storedAt: 0, usableSeconds: 0, expiresAt: 0
        )
        self.body = body
    }
}

/// Writes files that are either whole or absent.
enum DurableFile {
    static let temporaryExtension = ".dictum.part"

    /// Writes to a temporary file beside `path`, flushes it to the disk, and renames it.
    static func write(_ bytes: [UInt8], to path: String) throws(SystemError) {
        let temporary = "\(path).\(UUID().uuidString)\(temporaryExtension)"
        let file = try OutputFile(creating: temporary)
        do throws(SystemError) {
            try file.write(bytes)
            try file.synchronize()
            // Both texts are terminated and used during the call only.
            guard unsafe rename(temporary, path) == 0 else { throw SystemError(code: errno) }
        } catch {
            // The text is terminated and used during the call only.
            unsafe unlink(temporary)
            throw error
        }
    }
}
