internal import Dictionaries
internal import Primitives

/// An announcement in the shared store: a node has written a version there.
package struct SharedNews: Sendable, Equatable {
    package let name: SharedName
    /// The chain of a public version; nil for a sealed one.
    package let chain: ChainKey?
    /// The time of admission in microseconds since 1970.
    package let rank: Int64
    package let bytes: Int
    /// True if the version has a short life, because its chain is in probation.
    package var isInProbation = false

    /// The fields of an entry in the stream.
    package enum Entry {
        /// Announcements of versions.
        package static let versions = Array("v".utf8)
        /// Names of versions that were announced, and are gone.
        package static let lost = Array("l".utf8)
        /// Names of versions that were removed, because no client holds them any more.
        package static let superseded = Array("s".utf8)
        /// Ids that were given out before their body was complete.
        package static let promises = Array("p".utf8)
    }

    private enum Field: UInt8 {
        case authority = 1
        case match, matchDest, digest, name, rank, bytes, isInProbation
    }

    /// The greatest length of a name in an announcement, as in the store.
    private static let textMax = StoredSize.namesMax

    package init(name: SharedName, chain: ChainKey?, rank: Int64, bytes: Int) {
        self.name = name
        self.chain = chain
        self.rank = rank
        self.bytes = bytes
    }

    package init(of record: SharedRecord, named name: SharedName) {
        self.init(
            name: name, chain: name.isSealed ? nil : record.chain, rank: record.rank, bytes: record.body.count
        )
    }

    // MARK: Batches

    /// The greatest length of the value of an entry's field: clients choose paths, and the stream keeps many entries.
    package static let batchBytesMax = 2_048

    /// True if an entry has room for the announcement; versions with longer names stay on their node.
    package var fits: Bool { Self.batches([self]).count == 1 }

    /// Returns announcements as values of entries' fields, without those that fit in none.
    package static func batches(_ news: [SharedNews]) -> [[UInt8]] {
        var batches: [[UInt8]] = []
        for one in news {
            var bytes: [UInt8] = []
            NumberedFields.append(part: one.fields, to: &bytes)
            if let last = batches.last, last.count + bytes.count <= batchBytesMax {
                batches[batches.count - 1] += bytes
            } else if bytes.count <= batchBytesMax {
                batches.append(bytes)
            }
        }
        return batches
    }

    /// Reads a batch; skips what it does not understand.
    package static func read(_ batch: [UInt8]) -> [SharedNews] {
        NumberedFields.parts(of: batch).compactMap { SharedNews($0) }
    }

    /// The number of names that a batch has room for.
    package static let namesMax = batchBytesMax / (SharedName.bytesMax + 1)

    /// Returns names as the value of an entry's field.
    package static func batch(names: [SharedName]) -> [UInt8] {
        var bytes: [UInt8] = []
        for name in names { NumberedFields.append(part: name.bytes, to: &bytes) }
        return bytes
    }

    package static func readNames(_ batch: [UInt8]) -> [SharedName] {
        NumberedFields.parts(of: batch).compactMap { SharedName(bytes: $0) }
    }

    /// Returns promised ids as the value of an entry's field.
    package static func batch(promises: [PromisedIDs.Promise]) -> [UInt8] { PromisedIDs(promises).bytes }

    /// Reads as many as a node writes into one batch: more would take time with the square of their number.
    package static func readPromises(_ batch: [UInt8]) -> [PromisedIDs.Promise] {
        PromisedIDs(bytes: Array(batch.prefix(batchBytesMax))).all
    }

    private var fields: [UInt8] {
        var fields = NumberedFields()
        if let chain {
            fields.append(Field.authority.rawValue, chain.authority)
            fields.append(Field.match.rawValue, chain.match)
            for destination in chain.matchDest { fields.append(Field.matchDest.rawValue, destination) }
            fields.append(Field.digest.rawValue, name.digest.bytes)
        } else {
            fields.append(Field.name.rawValue, name.digest.bytes)
        }
        fields.append(Field.rank.rawValue, rank)
        fields.append(Field.bytes.rawValue, Int64(bytes))
        if isInProbation { fields.append(Field.isInProbation.rawValue, []) }
        return fields.bytes
    }

    private init?(_ part: ArraySlice<UInt8>) {
        guard let fields = NumberedFields.read(part) else { return nil }
        var (authority, match): (String?, String?) = (nil, nil)
        var matchDest: [String] = []
        var (digest, code): (Digest?, Digest?) = (nil, nil)
        var (rank, bytes): (Int64, Int64) = (0, 0)
        var isInProbation = false
        for (number, value) in fields {
            guard value.count <= Self.textMax else { return nil }
            switch Field(rawValue: number) {
            case .authority: authority = String(validating: value, as: UTF8.self)
            case .match: match = String(validating: value, as: UTF8.self)
            case .matchDest: matchDest += String(validating: value, as: UTF8.self).map { [$0] } ?? []
            case .digest: digest = Digest(bytes: Array(value))
            case .name: code = Digest(bytes: Array(value))
            case .rank: rank = BigEndian.number(value) ?? 0
            case .bytes: bytes = BigEndian.number(value) ?? 0
            case .isInProbation: isInProbation = true
            case nil: continue
            }
        }
        let size = Int(min(max(bytes, 0), Int64(SharedRecord.bodyBytesMax)))
        if let authority, let match, let digest {
            let chain = ChainKey(authority: authority, match: match, matchDest: matchDest)
            guard chain.textBytes <= SharedRecord.textBytesMax else { return nil }
            self.init(
                name: SharedName(publicChain: chain, digest: digest), chain: chain, rank: max(rank, 0),
                bytes: size)
        } else if let code {
            self.init(name: SharedName(chain: nil, digest: code), chain: nil, rank: max(rank, 0), bytes: size)
        } else {
            return nil
        }
        self.isInProbation = isInProbation
    }
}

/// What a node tells the others about the holders of a version since it last did.
package struct SharedDemand: Sendable, Equatable {
    package let name: SharedName
    /// The holders that were added, less those that went on to another version.
    package let change: Int32
    /// The time of the last contact with a holder, in seconds since 1970; 0 if none came back.
    package let contact: UInt32

    package init(name: SharedName, change: Int32, contact: UInt32) {
        (self.name, self.change, self.contact) = (name, change, contact)
    }

    /// The fields of an entry in the stream.
    package enum Entry {
        /// The holders of public versions.
        package static let holders = Array("h".utf8)
        /// The holders of sealed versions.
        package static let sealedHolders = Array("s".utf8)
        /// The node that tells it.
        package static let node = Array("n".utf8)
    }

    private static let countBytes = 8

    /// Returns some changes as fields of an entry.
    package static func fields(of demands: [SharedDemand]) -> [(name: [UInt8], value: [UInt8])] {
        [(Entry.holders, false), (Entry.sealedHolders, true)].compactMap { name, isSealed in
            let some = demands.filter { $0.name.isSealed == isSealed }
            return some.isEmpty ? nil : (name, some.flatMap(\.bytes))
        }
    }

    /// Reads the changes of a field; none if it is another field.
    package static func read(_ field: (name: [UInt8], value: [UInt8])) -> [SharedDemand] {
        switch field.name {
        case Entry.holders: read(field.value, nameBytes: SharedName.bytesMax)
        case Entry.sealedHolders: read(field.value, nameBytes: Digest.byteCount)
        default: []
        }
    }

    private var bytes: [UInt8] {
        name.bytes + BigEndian.bytes(UInt32(bitPattern: change)) + BigEndian.bytes(contact)
    }

    private static func read(_ batch: [UInt8], nameBytes: Int) -> [SharedDemand] {
        let size = nameBytes + countBytes
        return stride(from: 0, to: batch.count - size + 1, by: size).compactMap { start in
            let middle = start + nameBytes
            guard let name = SharedName(bytes: batch[start..<middle]),
                let change: UInt32 = BigEndian.number(batch[middle..<middle + 4]),
                let contact: UInt32 = BigEndian.number(batch[middle + 4..<middle + 8])
            else { return nil }
            return SharedDemand(name: name, change: Int32(bitPattern: change), contact: contact)
        }
    }
}
