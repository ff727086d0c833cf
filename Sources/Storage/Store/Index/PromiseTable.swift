internal import Dictionaries
internal import Primitives

/// The promised ids of all versions: their lists by the places of the versions, and the places by the tags.
struct PromiseTable: Sendable {
    private var lists: [Int32: PromisedIDs] = [:]
    private var places = PlaceTable()
    private(set) var count = 0

    var bytes: Int { count * PromisedIDs.bytesEach }

    /// Returns true if a version that `isIt` accepts was promised under an id with this tag.
    func contains(_ tag: PromisedTag, where isIt: (Int32) -> Bool) -> Bool {
        places.first(tag.part) { lists[$0]?.contains(tag) == true && isIt($0) } != nil
    }

    func ids(at place: Int32) -> PromisedIDs {
        // Hardly any version has some.
        count > 0 ? lists[place] ?? PromisedIDs() : PromisedIDs()
    }

    /// Adds ids of a version; returns the bytes by which its list grows, nil if all of them are there already.
    mutating func add(_ ids: PromisedIDs, at place: Int32) -> Int? {
        // Taken out, so that a long list is not copied for each id.
        var list = count > 0 ? lists.removeValue(forKey: place) ?? PromisedIDs() : PromisedIDs()
        let before = list.count
        var hasChanged = false
        for promise in ids.all where !list.contains(promise.tag) {
            let displaced = list.insert(promise)
            places.insert(place, promise.tag.part)
            if let displaced { places.remove(place, displaced.part) }
            hasChanged = true
        }
        if !list.isEmpty { lists[place] = list }
        count += list.count - before
        return hasChanged ? (list.count - before) * PromisedIDs.bytesEach : nil
    }

    mutating func take(at place: Int32) -> PromisedIDs {
        let ids = ids(at: place)
        guard !ids.isEmpty else { return ids }
        for promise in ids.all { places.remove(place, promise.tag.part) }
        lists[place] = nil
        count -= ids.count
        return ids
    }
}

extension IndexTables {
    mutating func takePromises(of version: Version) -> PromisedIDs {
        guard promises.count > 0, let place = place(of: version) else { return PromisedIDs() }
        let ids = promises.take(at: place)
        chains[Int(records[Int(place)].chain)].storedBytes -= ids.count * PromisedIDs.bytesEach
        return ids
    }
}

extension DictionaryIndex {
    /// Returns true if a version of a chain was promised under an id with this tag.
    func isPromised(_ tag: PromisedTag, in key: ChainKey, digest: () -> Digest) -> Bool {
        tables.withLock { tables in
            tables.promises.count > 0
                && tables.promises.contains(tag) {
                    tables.key(at: $0) == key && tables.records[Int($0)].digest == digest()
                }
        }
    }

    func promises(of version: Version) -> PromisedIDs {
        tables.withLock { tables in
            tables.place(of: version).map { tables.promises.ids(at: $0) } ?? PromisedIDs()
        }
    }

    /// Adds promised ids of a version; returns the bytes that they take, nil if nothing has changed.
    func add(_ ids: PromisedIDs, to version: Version) -> Int? {
        tables.withLock { tables in
            guard let place = tables.place(of: version), let growth = tables.promises.add(ids, at: place)
            else { return nil }
            tables.chains[Int(tables.records[Int(place)].chain)].storedBytes += growth
            return growth
        }
    }
}
