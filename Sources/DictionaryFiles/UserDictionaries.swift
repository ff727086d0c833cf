package import Dictionaries
internal import Foundation

/// The dictionaries of one user: a record and a body file for each, the latter named by its digest.
///
/// Bodies are used only after their digest has been compared. What cannot be read is removed.
package actor UserDictionaries {
    private static let recordBytesMax = 64 << 10
    private static let countMax = 1_000
    private static let bodyExtension = ".dictum.body"
    /// A body without a record may belong to another process that is about to write the record.
    private static let orphanMilliseconds: Int64 = 60_000

    /// The dictionaries that are to be fetched when the app is idle.
    package nonisolated let linked = LinkedFetches()
    private let files: FolderFiles
    private let bytesMax: Int
    /// The records by file name, with the time of their last use; nil until the folder has been read.
    private var records: [String: (record: ClientRecord, usedAt: Int64)]?
    /// Changes whenever everything is removed, so that a response to an earlier request is not kept.
    package private(set) var generation = 0

    init(_ files: FolderFiles, bytesMax: Int) {
        self.files = files
        self.bytesMax = bytesMax
    }

    /// Returns what a request for a URL may name, and what a 304 may confirm if it is a GET.
    package func held(
        for target: TargetURI, operation: String? = nil, isGet: Bool = true, now milliseconds: Int64
    ) -> (best: HeldBody?, own: HeldBody?) {
        let all = read()
        let ranked = CachedDictionary.ranked(
            all.values.map(\.record.dictionary), for: target, operation: operation, destination: "",
            at: milliseconds / 1000)
        var best: HeldBody?
        for dictionary in ranked where best == nil { best = load(dictionary.fileName, at: milliseconds) }
        // RFC 9110 section 13.1.2: a condition of another method would keep the request from being acted upon.
        guard isGet else { return (best, nil) }
        if let best, best.record.dictionary.url == target.text { return (best, best) }
        let own = all.values.filter {
            $0.record.dictionary.url == target.text && $0.record.dictionary.etag != nil
                && $0.record.dictionary.operation == operation
        }
        .max { $0.record.dictionary.storedAt < $1.record.dictionary.storedAt }
        return (best, own.flatMap { load($0.record.dictionary.fileName, at: milliseconds) })
    }

    /// Returns true if a dictionary that came from this URL may be named, whatever its pattern.
    package func hasUsable(_ target: TargetURI, at seconds: Int64) -> Bool {
        read().values.contains {
            $0.record.dictionary.url == target.text && $0.record.dictionary.isUsable(at: seconds)
        }
    }

    /// Returns true if a dictionary with this content is held for the same match.
    package func has(_ dictionary: CachedDictionary) -> Bool {
        read()[dictionary.fileName]?.record.dictionary.digest == dictionary.digest
    }

    /// Returns the newest usable dictionary that came from a URL, if the server accepts request bodies that are coded over it
    /// (RFC 9110 section 12.5.3).
    package func forUpload(
        to target: TargetURI, operation: String?, now milliseconds: Int64
    ) -> HeldBody? {
        let candidates = read().values.map(\.record).filter {
            $0.dictionary.url == target.text && $0.dictionary.operation == operation
                && $0.dictionary.isUsable(at: milliseconds / 1000) && $0.announcesUploads
        }
        return candidates.max { $0.dictionary.storedAt < $1.dictionary.storedAt }
            .flatMap { load($0.dictionary.fileName, at: milliseconds) }
    }

    /// Keeps a dictionary in place of an older one with the same match; others go if needed.
    ///
    /// Returns false, and keeps nothing, if the dictionary is too large, or all were removed since `generation`.
    package func keep(_ record: ClientRecord, _ body: Body, generation: Int) throws -> Bool {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let json = try encoder.encode(record)
        guard generation == self.generation, body.count <= bytesMax, json.count <= Self.recordBytesMax else {
            return false
        }
        _ = read()
        // The body comes first, so that a record never names a missing body.
        let bodyName = Self.bodyName(record.dictionary.digest)
        if files.time(of: bodyName) == 0 { try files.write(Data(body.bytes), to: bodyName) }
        let name = record.dictionary.fileName
        try files.write(json, to: name)
        let replaced = records?.updateValue((record, record.dictionary.storedAt), forKey: name)
        if let replaced { removeBody(replaced.record.dictionary.digest) }
        evict(sparing: name)
        return true
    }

    package func remove(_ dictionary: CachedDictionary) { remove(dictionary.fileName) }

    /// Removes all; responses to earlier requests are not kept.
    package func removeAll() {
        generation += 1
        records = [:]
        for name in files.names { files.remove(name) }
    }

    private func read() -> [String: (record: ClientRecord, usedAt: Int64)] {
        if let records { return records }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        var found: [String: (record: ClientRecord, usedAt: Int64)] = [:]
        let names = files.names
        for name in names where name.hasSuffix(CachedDictionary.fileExtension) {
            guard found.count < 2 * Self.countMax, let bytes = files.read(name, max: Self.recordBytesMax),
                let record = try? decoder.decode(ClientRecord.self, from: Data(bytes)),
                record.dictionary.format == CachedDictionary.currentFormat,
                record.dictionary.fileName == name,
                Digest(hex: record.dictionary.digest) != nil
            else {
                files.remove(name)
                continue
            }
            found[name] = (record, files.time(of: name))
        }
        records = found
        removeOrphans(names)
        evict(sparing: nil)
        return records ?? [:]
    }

    private func removeOrphans(_ names: [String]) {
        let named = Set((records ?? [:]).values.map { Self.bodyName($0.record.dictionary.digest) })
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        for name in names
        where name.hasSuffix(Self.bodyExtension) || name.hasSuffix(FolderFiles.temporaryExtension) {
            if !named.contains(name), now - files.time(of: name) > Self.orphanMilliseconds {
                files.remove(name)
            }
        }
    }

    /// Returns the body of a record; nil, after removing both, if it does not have the digest.
    private func load(_ name: String, at milliseconds: Int64) -> HeldBody? {
        guard let record = records?[name]?.record else { return nil }
        if let bytes = files.read(Self.bodyName(record.dictionary.digest), max: bytesMax) {
            let body = Body(bytes)
            if body.digest.hex == record.dictionary.digest {
                records?[name]?.usedAt = milliseconds
                files.touch(name, at: milliseconds)
                return HeldBody(record: record, body: body)
            }
        }
        // A damaged file would otherwise be taken for the body when it comes again.
        files.remove(Self.bodyName(record.dictionary.digest))
        remove(name)
        return nil
    }

    /// Removes what was used least recently until the rest is within the limits.
    private func evict(sparing spared: String?) {
        let oldest = (records ?? [:]).sorted { $0.value.usedAt < $1.value.usedAt }
        var bytes = oldest.reduce(0) { $0 + $1.value.record.dictionary.bytes }
        var count = oldest.count
        for (name, entry) in oldest where name != spared {
            if bytes <= bytesMax, count <= Self.countMax { return }
            bytes -= entry.record.dictionary.bytes
            count -= 1
            remove(name)
        }
    }

    private func remove(_ name: String) {
        files.remove(name)
        if let gone = records?.removeValue(forKey: name) { removeBody(gone.record.dictionary.digest) }
    }

    /// Removes a body unless another record names it.
    private func removeBody(_ digest: String) {
        let isNamed = records?.values.contains { $0.record.dictionary.digest == digest } == true
        if !isNamed { files.remove(Self.bodyName(digest)) }
    }

    private static func bodyName(_ digest: String) -> String { digest + bodyExtension }
}

/// A dictionary whose body has been checked against its digest.
package struct HeldBody: Sendable {
    package let record: ClientRecord
    package let body: Body
}

/// The record of a dictionary, with the fields of its response for when a 304 confirms it.
package struct ClientRecord: Codable, Sendable {
    package let dictionary: CachedDictionary
    package let fields: [ResponseField]
    /// What the response was chosen by (RFC 9111 section 4.1), as a digest; nil if it answers no request.
    package let selection: String?

    package init(dictionary: CachedDictionary, fields: [ResponseField], selection: String? = nil) {
        (self.dictionary, self.fields, self.selection) = (dictionary, fields, selection)
    }

    /// True if the response said that bodies of requests may be in dcz.
    var announcesUploads: Bool {
        let lines = fields.filter { $0.name.lowercased() == "accept-encoding" }.map(\.value)
        return AcceptEncoding(lines).quality(of: .dcz) > 0
    }
}

/// A line of a response's head.
package struct ResponseField: Codable, Equatable, Sendable {
    package let name: String
    package let value: String

    package init(name: String, value: String) { (self.name, self.value) = (name, value) }
}
