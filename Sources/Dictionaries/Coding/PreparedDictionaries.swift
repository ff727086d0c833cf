/// The dictionaries that have been indexed and wait for their next body, within a budget of memory.
///
/// Safe from any thread. When the budget is used up, the one that was used longest ago goes first.
package final class PreparedDictionaries: Sendable {
    /// Larger dictionaries are indexed for each body: their tables take several times as much memory as they do.
    package static let dictionaryBytesMax = 1 << 20

    private struct Key: Hashable {
        let digest: Digest
        let coding: ContentCoding
    }

    private struct Entry {
        let dictionary: PreparedDictionary
        let bytes: Int
        var lastUse: Int
    }

    private struct Shelf {
        var entries: [Key: Entry] = [:]
        var bytes = 0
        var uses = 0
    }

    private let bytesMax: Int
    private let shelf = Guarded(Shelf())

    /// An empty shelf; `bytesMax` counts the indexes and the bodies they refer to.
    package init(bytesMax: Int) {
        self.bytesMax = bytesMax
    }

    /// The bytes of memory that the waiting dictionaries hold.
    package var memoryBytes: Int { shelf.withLock { $0.bytes } }

    /// The dictionary as it was indexed before for that coding; nil if it was not, or has gone since.
    package func prepared(_ body: Body, for coding: ContentCoding) -> PreparedDictionary? {
        let key = Key(digest: body.digest, coding: coding)
        return shelf.withLock { shelf in
            shelf.uses += 1
            shelf.entries[key]?.lastUse = shelf.uses
            return shelf.entries[key]?.dictionary
        }
    }

    /// The dictionary as an encoder should get it, indexed now if it was not before: up to 3 ms, and for a large one
    /// more in the encoder, so not on an event loop.
    package func use(_ body: Body, for coding: ContentCoding) throws(CodingError) -> DictionaryUse {
        guard body.count <= Self.dictionaryBytesMax else { return .reference(body) }
        if let prepared = prepared(body, for: coding) { return .prepared(prepared) }
        // Two threads may do this at once for one dictionary: rare, and cheaper than to wait for each other.
        let prepared: PreparedDictionary = coding == .dcb ? try .brotli(body) : try .zstd(body)
        keep(prepared)
        return .prepared(prepared)
    }

    private func keep(_ prepared: PreparedDictionary) {
        let key = Key(digest: prepared.body.digest, coding: prepared.coding)
        let bytes = prepared.memoryBytes + prepared.body.count
        guard bytes <= bytesMax else { return }
        shelf.withLock { shelf in
            shelf.uses += 1
            let former = shelf.entries.updateValue(
                Entry(dictionary: prepared, bytes: bytes, lastUse: shelf.uses), forKey: key)
            shelf.bytes += bytes - (former?.bytes ?? 0)
            while shelf.bytes > bytesMax,
                let oldest = shelf.entries.min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                shelf.entries[oldest.key] = nil
                shelf.bytes -= oldest.value.bytes
            }
        }
    }
}
