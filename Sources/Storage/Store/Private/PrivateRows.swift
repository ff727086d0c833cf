internal import Dictionaries
internal import FoundationEssentials
internal import GRDB
internal import Primitives

extension StoreDatabase {
    /// Returns every private version whose chain the keys open, without its body, and the rows that they do not open.
    func privateVersions() throws(StoreDatabaseError) -> PrivateRows.Found {
        var found = PrivateRows.Found()
        guard let keys else { return found }
        try read { database in
            let (owners, unusable) = try PrivateRows.owners(database, keys)
            found.unusableChains = unusable
            let now = Int(SystemClock.unixMicroseconds / 1_000_000)
            let rows = try RowReader(
                database, sql: "SELECT \(StoreRows.columns), promises, name, stored FROM private_version")
            while try rows.next() {
                guard let owner = rows.integer(1).flatMap({ owners[$0] }) else {
                    found.unusableVersions += 1
                    continue
                }
                guard let name = rows.digest(17),
                    let version = StoreRows.version(
                        rows, chain: owner.chain(of: name), digest: name, now: now, isNamed: owner.isNamed)
                else { continue }
                version.sealedBytes = rows.integer(18).map(Int.init(clamping:))
                found.versions.append(version)
            }
        }
        return found
    }

    /// Removes the versions of these private chains, and then the chains.
    func removePrivate(chains: [Int64]) throws(StoreDatabaseError) {
        try change { database in
            let versions = try database.cachedStatement(sql: "DELETE FROM private_version WHERE chain = ?")
            let empty = try database.cachedStatement(sql: "DELETE FROM private_chain WHERE id = ?")
            for id in chains {
                try versions.execute(arguments: [id])
                try empty.execute(arguments: [id])
            }
        }
    }

    /// Removes all private rows; returns the number of versions.
    func removeAllPrivate() throws(StoreDatabaseError) -> Int {
        try change { database in
            let count = try Int.fetchOne(database, sql: "SELECT count(*) FROM private_version") ?? 0
            guard count > 0 else { return 0 }
            try database.execute(sql: "DELETE FROM private_version; DELETE FROM private_chain")
            return count
        }
    }
}

/// The rows of private chains, to and from versions; without the key nothing in them can be read.
enum PrivateRows {
    /// The rows that one key opens, and those that it does not.
    struct Found {
        var versions: [Version] = []
        /// The rows of chains that were sealed with another key, or are damaged.
        var unusableChains: [Int64] = []
        var unusableVersions = 0
    }

    // MARK: Reading

    fileprivate static func owners(_ database: Database, _ keys: StoreKeys) throws
        -> (usable: [Int64: PrivateChainFacts.Owner], unusable: [Int64])
    {
        var usable: [Int64: PrivateChainFacts.Owner] = [:]
        var unusable: [Int64] = []
        let rows = try Row.fetchCursor(database, sql: "SELECT id, name, facts FROM private_chain")
        while let row = try rows.next() {
            guard let id: Int64 = row.value(0) else { continue }
            guard let name: Data = row.value(1), let sealed: Data = row.value(2),
                let facts = keys.seal(ofChain: [UInt8](name)).open([UInt8](sealed)),
                let owner = PrivateChainFacts.owner(facts)
            else {
                unusable.append(id)
                continue
            }
            usable[id] = owner
        }
        return (usable, unusable)
    }

    /// Returns the body of a version; nil if there is no such row.
    static func body(of version: Version, _ database: Database, _ keys: StoreKeys) throws -> [UInt8]? {
        let row = try Row.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT private_chain.name, sealed, private_body.size FROM private_version
                    JOIN private_chain ON private_chain.id = chain
                    JOIN private_body ON private_body.id = private_version.id
                    WHERE private_version.id = ?
                    """), arguments: [version.id])
        guard let row else { return nil }
        guard let chain: Data = row.value(0), let sealed: Data = row.value(1),
            let body = keys.seal(ofRow: version.digest, inChain: [UInt8](chain)).open([UInt8](sealed))
        else { throw StoreDatabaseError.damaged("its seal is broken") }
        return try StoredBody(bytes: body, count: row.value(2), base: nil).whole(over: nil)
    }

    // MARK: Writing

    /// Returns the text that takes the place of the URL in a row that has neither URL nor variant.
    ///
    /// Random names would put each row on another page of the index.
    static func placeholder(forRow id: Int64) -> String { String(id, radix: 36) }

    /// Inserts a version with its body; runs inside a transaction.
    static func insert(
        _ insertion: PendingWrites.Insertion, into database: Database, _ keys: StoreKeys
    ) throws {
        let version = insertion.version
        let chain = keys.rowName(of: version.chainKey)
        let facts = try keys.seal(ofChain: chain).seal(PrivateChainFacts.bytes(version.chainKey))
        try database.cachedStatement(sql: "INSERT OR IGNORE INTO private_chain (name, facts) VALUES (?, ?)")
            .execute(arguments: [Data(chain), Data(facts)])
        // Sealed bytes cannot be compressed, so this comes first.
        let bytes = insertion.packed?.frame ?? insertion.body.bytes
        let sealed = try keys.seal(ofRow: version.digest, inChain: chain).seal(bytes)
        try insert(insertion, ofChain: chain, sealedBytes: sealed.count, into: database)
        // An existing row that was skipped as invalid keeps its place.
        guard database.changesCount > 0 else { return }
        try database.cachedStatement(sql: "INSERT INTO private_body (id, sealed, size) VALUES (?, ?, ?)")
            .execute(arguments: [version.id, Data(sealed), insertion.packed?.count])
    }

    private static func insert(
        _ insertion: PendingWrites.Insertion, ofChain chain: [UInt8], sealedBytes: Int,
        into database: Database
    ) throws {
        let version = insertion.version
        let url = version.url.isEmpty ? placeholder(forRow: version.id) : version.url
        try database.cachedStatement(
            sql: """
                INSERT INTO private_version (id, chain, name, url, variant, etag, content_type, size, rank,
                    admitted, last_wanted, max_age, is_upstream_match, stored, holders, is_proven, last_offered,
                    last_advertised, promises)
                VALUES (?, (SELECT id FROM private_chain WHERE name = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT DO NOTHING
                """
        ).execute(
            arguments: [
                version.id, Data(chain), Data(version.digest.bytes), url, version.variant, version.etag,
                version.contentType, version.bytes, version.rank, version.admittedAt, version.lastWanted,
                version.maxAge, version.isUpstreamMatch, sealedBytes,
            ] + StoreRows.arguments(version.counters.state) + [insertion.promises.data])
    }
}

/// The names of a private chain, encoded to be sealed.
///
/// Personal chains of one resource share a row; each of their versions carries the tag of its chain.
enum PrivateChainFacts {
    private static let ofIdentity = "1"
    private static let ofPersons = "2"

    /// Returns the encoding: the tag of an identity, the authority, the match and each match-dest, every part
    /// preceded by its length.
    static func bytes(_ key: ChainKey) -> [UInt8] {
        if case .private(let tag) = key.scope {
            return LengthPrefixed(ofIdentity, tag.bytes, chain: key).bytes
        }
        return LengthPrefixed(ofPersons, chain: key).bytes
    }

    /// The owner of a row in the table of private chains.
    enum Owner {
        /// One identity, whose chain this is.
        case identity(Chain)
        /// Many persons; the tag of each version completes the key.
        case persons(ChainKey)

        var isNamed: Bool { if case .identity = self { true } else { false } }

        /// Returns the chain of a version of this name: that of the identity, or a chain of its own.
        func chain(of name: Digest) -> Chain {
            switch self {
            case .identity(let chain): chain
            case .persons(let key): Chain(key.with(.personal(IdentityTag(code: name))))
            }
        }
    }

    /// Decodes the names; returns nil if the bytes were not made by `bytes`.
    static func owner(_ bytes: [UInt8]) -> Owner? {
        guard var parts = LengthPrefixed.parts(of: bytes)?[...], let label = parts.popFirst() else {
            return nil
        }
        let isOfPersons = label.elementsEqual(ofPersons.utf8)
        guard isOfPersons || label.elementsEqual(ofIdentity.utf8) else { return nil }
        let tag = isOfPersons ? nil : parts.popFirst().flatMap { IdentityTag(bytes: $0) }
        let texts = parts.map { String(decoding: $0, as: UTF8.self) }
        guard texts.count >= 2 else { return nil }
        let key = ChainKey(authority: texts[0], match: texts[1], matchDest: Array(texts.dropFirst(2)))
        return isOfPersons ? .persons(key) : tag.map { .identity(Chain(key.with(.private($0)))) }
    }
}
