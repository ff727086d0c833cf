internal import Dictionaries
internal import Foundation
internal import Primitives

/// The dictionaries of one generation of one user: a body and a record for each.
///
/// **The folder is the truth.** Both files of a dictionary are named by its key and its digest, so that whoever removes a
/// dictionary, in whichever process, removes no newer one, and what is replaced is removed after its successor has come. Nothing is
/// locked: iOS ends an app that is suspended while it holds a lock in a folder of several apps.
///
/// **The records in memory are a copy**, which is compared with the folder's time of change before each use. A dictionary counts while
/// both its files are there. What cannot be read now is left alone and tried again; what was read and is wrong is removed.
struct DictionaryFolder: Sendable {
    static let bodyExtension = ".dictum.body"
    static let recordExtension = ".dictum.json"
    static let recordBytesMax = 64 << 10
    /// File systems count time in ticks of up to two seconds: a later change within one tick could not be seen.
    private static let tickNanoseconds: Int64 = 2_000_000_000

    let files: FolderFiles
    /// By the names that the files have in common.
    private var known: [String: (status: FileStatus, record: ClientRecord)] = [:]
    /// The change of the folder after which it was listed; nil if it must be listed again in any case.
    private var listedChange: Int64?

    init(files: FolderFiles) { self.files = files }

    /// False once the user's dictionaries have been removed.
    var exists: Bool { files.status() != nil }

    mutating func records() -> [ClientRecord] {
        let change = files.status()?.changedAt
        if change == nil || change != listedChange { list(after: change) }
        return known.values.map(\.record)
    }

    private mutating func list(after change: Int64?) {
        let now = FileStatus.now
        guard let names = files.list().map(Set.init) else { return }
        var found: [String: (status: FileStatus, record: ClientRecord)] = [:]
        var isWhole = true
        for fileName in names where fileName.hasSuffix(Self.recordExtension) {
            let name = String(fileName.dropLast(Self.recordExtension.count))
            guard names.contains(name + Self.bodyExtension), let status = files.status(of: fileName) else {
                continue
            }
            if let same = known[name], same.status == status {
                found[name] = same
            } else if let bytes = files.read(fileName, max: Self.recordBytesMax) {
                if let record = ClientRecord(json: bytes), record.dictionary.fileName == name {
                    found[name] = (status, record)
                } else {
                    remove(name)
                }
            } else {
                isWhole = false
            }
        }
        known = found
        listedChange = isWhole ? change.flatMap { now - $0 > Self.tickNanoseconds ? $0 : nil } : nil
    }

    /// Returns a listed dictionary with its body, and notes its use; nil if the body cannot be read now, or was wrong and is removed.
    func load(_ dictionary: CachedDictionary) -> VerifiedDictionary? {
        let name = dictionary.fileName
        // One byte more shows that a file is too long.
        guard let record = known[name]?.record,
            let bytes = files.read(name + Self.bodyExtension, max: record.dictionary.bytes + 1)
        else { return nil }
        let body = Body(bytes)
        guard body.digest.hex == record.dictionary.digest else {
            remove(name)
            return nil
        }
        _ = files.touch(name + Self.bodyExtension)
        return VerifiedDictionary(record: record, body: body)
    }

    /// Writes the files of a dictionary, and removes those of older ones with the same key; leaves no new file if it fails.
    func keep(_ dictionary: CachedDictionary, json: Data, _ body: Body) throws {
        let name = dictionary.fileName
        let older = (files.list() ?? []).filter {
            $0.hasPrefix(dictionary.keyName + ".") && !$0.hasPrefix(name)
        }
        // The body comes first. After a 304 it is there.
        let isNew = !files.touch(name + Self.bodyExtension)
        if isNew { try files.write(Data(body.bytes), to: name + Self.bodyExtension) }
        do {
            try files.write(json, to: name + Self.recordExtension)
        } catch {
            if isNew { files.remove(name + Self.bodyExtension) }
            throw error
        }
        for old in older { files.remove(old) }
    }

    func remove(_ dictionary: CachedDictionary) { remove(dictionary.fileName) }

    private func remove(_ name: String) {
        for kind in [Self.recordExtension, Self.bodyExtension] { files.remove(name + kind) }
    }
}

extension CachedDictionary {
    /// The first part of the names of a dictionary's files, which those of its successors share.
    fileprivate var keyName: String { Digest(of: Array(key.utf8).span).base64URL }

    /// The names of the two files of a dictionary, without their extensions.
    ///
    /// Their extensions are unusual, so that files of others are left alone.
    fileprivate var fileName: String { "\(keyName).\(digest)" }
}
