internal import Dictionaries

/// The look-ups: each returns places, for which the index makes objects.
extension IndexTables {
    func chainPlace(_ key: ChainKey) -> Int32? {
        chainPlaces.first(Self.hash(key)) { chains[Int($0)].chain?.key == key }
    }

    /// Returns the place of a chain without a search, if the index has this object.
    func chainPlace(_ chain: Chain) -> Int32? {
        let place = chain.indexPlace
        guard chains.indices.contains(place), chains[place].chain === chain else {
            return chainPlace(chain.key)
        }
        return Int32(place)
    }

    func chain(_ key: ChainKey) -> Chain? { chainPlace(key).flatMap { chains[Int($0)].chain } }

    func record(of key: ChainKey) -> ChainRecord? { chainPlace(key).map { chains[Int($0)] } }

    func place(ofRow id: Int64) -> Int32? {
        rows.first(UInt64(bitPattern: id)) { records[Int($0)].id == id }
    }

    func newest(_ key: ChainKey, name: UInt64) -> Int32? {
        chainPlace(key).flatMap { newest($0, name: name) }
    }

    func newest(_ chain: Int32, name: UInt64) -> Int32? {
        // The closure holds the records alone: a copy of all tables would retain each.
        resources.first(Self.hash(name, chain)) { [records] place in
            records[Int(place)].name == name && records[Int(place)].chain == chain
        }
    }

    /// Returns the newest version of a URL and variant that had this entity tag.
    func version(_ key: ChainKey, name: UInt64, tag: UInt64) -> Int32? {
        guard let chain = chainPlace(key) else { return nil }
        var next = newest(chain, name: name)
        for _ in 0..<Self.taggedMax {
            guard let place = next else { return nil }
            if records[Int(place)].tag == tag { return place }
            next = records[Int(place)].older >= 0 ? records[Int(place)].older : nil
        }
        return nil
    }

    // MARK: Digests

    func place(of digest: Digest, _ isApart: Bool) -> Int32? {
        digests[isApart: isApart].first(digest, in: records)
    }

    /// Returns the version with a digest, a URL and a variant.
    func version(_ key: ChainKey, name: UInt64, digest: Digest) -> Int32? {
        guard let chain = chainPlace(key) else { return nil }
        let isApart = key.scope.isApart
        guard let place = place(of: digest, isApart) else { return nil }
        let record = records[Int(place)]
        guard record.hasSiblings else {
            return record.name == name && record.chain == chain ? place : nil
        }
        return digests[isApart: isApart].place(of: digest, chain: chain, name: name)
    }

    /// Returns a version with a digest in a chain, for any URL.
    func version(_ key: ChainKey, digest: Digest) -> Int32? {
        versions(key, digest: digest, limit: 1).first
    }

    func versions(_ key: ChainKey, digest: Digest, limit: Int) -> [Int32] {
        guard let chain = chainPlace(key) else { return [] }
        let isApart = key.scope.isApart
        guard let place = place(of: digest, isApart) else { return [] }
        guard records[Int(place)].hasSiblings else {
            return records[Int(place)].chain == chain ? [place] : []
        }
        return digests[isApart: isApart].places(of: digest, chain: chain, limit: limit)
    }

    func versions(digest: Digest, isApart: Bool, authority: String, limit: Int) -> [Int32] {
        guard let place = place(of: digest, isApart) else { return [] }
        guard records[Int(place)].hasSiblings else {
            return key(at: place)?.authority == authority ? [place] : []
        }
        return digests[isApart: isApart].places(of: digest, authority: authority, limit: limit)
    }

    /// Returns all versions with a digest; linear in their number.
    func versions(digest: Digest, isApart: Bool) -> [Int32] {
        guard let place = place(of: digest, isApart) else { return [] }
        guard records[Int(place)].hasSiblings else { return [place] }
        return Array(digests[isApart: isApart].places(of: digest))
    }

    /// Returns the rows of some other versions with the same body that are not private.
    func siblings(of version: Version) -> [Int64] {
        guard !version.chainKey.scope.isSealed else { return [] }
        let isApart = version.chainKey.scope.isApart
        guard let first = place(of: version.digest, isApart) else { return [] }
        func isSibling(_ place: Int32) -> Bool {
            records[Int(place)].id != version.id && key(at: place)?.scope.isSealed == false
        }
        var siblings = isSibling(first) ? [records[Int(first)].id] : []
        if records[Int(first)].hasSiblings {
            let all = digests[isApart: isApart].places(of: version.digest)
            var left = Self.siblingsMax
            for place in all where place != first && isSibling(place) {
                siblings.append(records[Int(place)].id)
                left -= 1
                if left == 0 { break }
            }
        }
        return siblings
    }

    /// Returns the latest versions of a chain, the newest first.
    func recent(_ key: ChainKey) -> [Int32] {
        guard let place = chainPlace(key) else { return [] }
        let chain = chains[Int(place)]
        // A body that returned is here once more.
        var seen: Set<Int32> = []
        return (0..<chain.recent.count).compactMap { step in
            let version = chain.recent[
                (Int(chain.recentEnd) + chain.recent.count - 1 - step) % chain.recent.count]
            return version >= 0 && Int(version) < records.count && records[Int(version)].chain == place
                && seen.insert(version).inserted ? version : nil
        }
    }
}

extension ChainKey.Scope {
    /// True if a look-up by digest alone must not find versions of this scope: they need an id as well.
    var isApart: Bool {
        switch self {
        case .public, .private: false
        case .unlisted, .personal: true
        }
    }
}
