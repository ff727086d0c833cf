internal import FoundationEssentials
internal import GRDB

/// The rows of the store, to and from versions.
enum StoreRows {
    /// The one scope in these tables; private chains have tables of their own.
    static let publicScope = "public"

    // MARK: Reading

    /// Every version that makes sense, without its body; a row changed by hand into nonsense is passed over.
    ///
    /// Only those that changed after a place in the feed, where one is given. `home` gives the chains that are
    /// known already.
    static func versions(
        _ database: Database, changedAfter sequence: Int64? = nil, heads: HeadMemory,
        home: (ChainKey) -> Chain? = { _ in nil }
    ) throws -> [Version] {
        let ids = sequence.map { "id IN (SELECT version FROM change WHERE sequence > \($0))" }
        let chains = try chains(
            database, where: ids.map { "id IN (SELECT chain FROM version WHERE \($0))" }, home: home)
        let digests = try digests(
            database, where: ids.map { "id IN (SELECT body FROM version WHERE \($0))" })
        var versions: [Version] = []
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT id, chain, body, url, variant, etag, content_type, size, rank, admitted, last_wanted,
                max_age, pinned_until, is_upstream_match, head FROM version WHERE \(ids ?? "TRUE")
                """)
        while let row = try rows.next() {
            guard let chainID: Int64 = row[1], let bodyID: Int64 = row[2], let home = chains[chainID],
                let digest = digests[bodyID]
            else { continue }
            if let version = version(row, home: home, digest: digest, heads: heads) {
                versions.append(version)
            }
        }
        return versions
    }

    /// Decodes all but columns 1 and 2 without a trap: a damaged page can hold any value in any column.
    static func version(_ row: Row, home: Chain, digest: Digest, heads: HeadMemory) -> Version? {
        guard let id: Int64 = row[0], let url: String = row[3], let variant: String = row[4],
            let size: Int = row[7], let rank: Int64 = row[8], let admitted: Int = row[9],
            let wanted: Int = row[10], let maxAge: Int = row[11], let pinned: Int = row[12]
        else { return nil }
        // Numbers that can be added and compared without a thought of overflow.
        let sensible = 0...Version.secondsMax
        guard sensible.contains(size), sensible.contains(admitted), sensible.contains(wanted),
            sensible.contains(maxAge), (0..<(Int64.max / 2)).contains(rank)
        else { return nil }
        let facts = VersionFacts(
            digest: digest, url: url, variant: variant, etag: row[5], contentType: row[6], bytes: size,
            maxAge: maxAge, isUpstreamMatch: row[13] as Bool? ?? false)
        let head: Data? = row[14]
        return Version(
            facts, id: id, rank: rank, home: home, admittedAt: admitted, lastWanted: wanted,
            pinnedUntil: pinned <= wanted + DictionaryStore.pinSecondsMax ? pinned : 0,
            head: head.flatMap { StoredHead([UInt8]($0), memory: heads) })
    }

    private static func chains(
        _ database: Database, where condition: String?, home: (ChainKey) -> Chain?
    ) throws -> [Int64: Chain] {
        var chains: [Int64: Chain] = [:]
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT id, authority, scope, "match", match_dest, established FROM chain
                WHERE \(condition ?? "TRUE")
                """)
        while let row = try rows.next() {
            guard let id: Int64 = row[0], let authority: String = row[1], let scopeName: String = row[2],
                scopeName == publicScope, let match: String = row[3], let destinations: String = row[4]
            else { continue }
            let key = ChainKey(
                authority: authority, match: match, matchDest: list(destinations))
            chains[id] = home(key) ?? Chain(key, isEstablished: row[5] != 0)
        }
        return chains
    }

    /// All of them are read from the index over scope and digest, which holds no bytes of bodies.
    private static func digests(_ database: Database, where condition: String?) throws -> [Int64: Digest] {
        var digests: [Int64: Digest] = [:]
        let source = condition.map { "WHERE \($0)" } ?? "INDEXED BY sqlite_autoindex_body_1"
        let rows = try Row.fetchCursor(database, sql: "SELECT id, digest FROM body \(source)")
        while let row = try rows.next() {
            guard let id: Int64 = row[0], let digest: Data = row[1] else { continue }
            digests[id] = Digest(bytes: [UInt8](digest))
        }
        return digests
    }

    // MARK: Writing

    /// Applies a batch; runs inside a transaction.
    ///
    /// Returns the renewed versions whose rows another process has removed.
    static func apply(_ batch: PendingWrites.Batch, to database: Database, _ keys: StoreKeys?) throws
        -> [Version]
    {
        let establish = try database.cachedStatement(
            sql: "UPDATE chain SET established = 1 WHERE id = (SELECT chain FROM version WHERE id = ?)")
        for id in batch.established { try establish.execute(arguments: [id]) }
        // The removals before the insertions: a body that left and came back is written anew.
        // What is removed or touched is known by its number alone, which is unique across both tables.
        let tables = keys == nil ? ["version"] : ["version", "private_version"]
        for table in tables {
            let delete = try database.cachedStatement(sql: "DELETE FROM \(table) WHERE id = ?")
            for id in batch.removals { try delete.execute(arguments: [id]) }
        }
        for insertion in batch.insertions { try insert(insertion, into: database, keys) }
        let lost = try batch.renewals.filter { try !renew($0, in: database) }
        for table in tables {
            let touch = try database.cachedStatement(
                sql: "UPDATE \(table) SET last_wanted = max(last_wanted, ?) WHERE id = ?")
            for (id, lastWanted) in batch.touches { try touch.execute(arguments: [lastWanted, id]) }
        }
        let pin = try database.cachedStatement(sql: "UPDATE version SET pinned_until = ? WHERE id = ?")
        for (id, until) in batch.pins { try pin.execute(arguments: [until, id]) }
        try shortenFeed(database)
        return lost
    }

    private static func insert(
        _ insertion: PendingWrites.Insertion, into database: Database, _ keys: StoreKeys?
    ) throws {
        let version = insertion.version
        let chain = version.chain
        if let tag = chain.scope.tag {
            // Without keys there are no private versions; never is one written to the public tables.
            guard let keys else { return }
            return try PrivateRows.insert(insertion, of: tag, into: database, keys)
        }
        let scope = publicScope
        let digest = Data(version.digest.bytes)
        try database.cachedStatement(
            sql: """
                INSERT INTO chain (authority, scope, "match", match_dest, established) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET established = 1 WHERE excluded.established > established
                """
        ).execute(arguments: [
            chain.authority, scope, chain.match, text(chain.matchDest), version.home.isEstablished,
        ])
        try database.cachedStatement(
            sql: "INSERT OR IGNORE INTO body (scope, digest, bytes) VALUES (?, ?, ?)"
        ).execute(arguments: [scope, digest, Data(insertion.body.bytes)])
        // A conflict is another process that admitted the same version: one row stays. Or, hardly ever, it chose the
        // same row for another: then this one lives in memory only.
        try database.cachedStatement(
            sql: """
                INSERT INTO version (id, chain, body, url, variant, etag, content_type, size, rank, admitted,
                    last_wanted, max_age, pinned_until, is_upstream_match, head)
                VALUES (?, (SELECT id FROM chain
                        WHERE authority = ? AND scope = ? AND "match" = ? AND match_dest = ?),
                    (SELECT id FROM body WHERE scope = ? AND digest = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET etag = excluded.etag, content_type = excluded.content_type,
                    rank = max(rank, excluded.rank), last_wanted = max(last_wanted, excluded.last_wanted),
                    max_age = excluded.max_age, is_upstream_match = excluded.is_upstream_match,
                    pinned_until = max(pinned_until, excluded.pinned_until), head = excluded.head
                WHERE (chain, url, variant, body)
                    = (excluded.chain, excluded.url, excluded.variant, excluded.body)
                """
        ).execute(arguments: [
            version.id, chain.authority, scope, chain.match, text(chain.matchDest), scope, digest,
            version.url,
            version.variant, version.etag, version.contentType, version.bytes, version.rank,
            version.admittedAt,
            version.lastWanted, version.maxAge, version.pinnedUntil, version.isUpstreamMatch,
            version.headData,
        ])
        if version.head != nil { try forgetFormerHeads(of: version, in: database) }
    }

    /// Only the newest version of a URL and variant can be asked about.
    private static func forgetFormerHeads(of version: Version, in database: Database) throws {
        try database.cachedStatement(
            sql: """
                UPDATE version SET head = NULL WHERE head IS NOT NULL AND id <> ? AND url = ? AND variant = ?
                AND chain = (SELECT chain FROM version WHERE id = ?)
                """
        ).execute(arguments: [version.id, version.url, version.variant, version.id])
    }

    /// False where there is no such row any more.
    private static func renew(_ version: Version, in database: Database) throws -> Bool {
        guard version.chain.scope == .public else {
            try PrivateRows.renew(version, in: database)
            return try database.changesCount > 0 || hasRow(version, in: "private_version", database)
        }
        // What another process noted of a later return stays.
        try database.cachedStatement(
            sql: """
                UPDATE version SET etag = ?, content_type = ?, rank = ?, last_wanted = max(last_wanted, ?),
                    max_age = ?, is_upstream_match = ?, head = ?
                WHERE id = ? AND rank <= ?
                """
        ).execute(arguments: [
            version.etag, version.contentType, version.rank, version.lastWanted, version.maxAge,
            version.isUpstreamMatch, version.headData, version.id, version.rank,
        ])
        return try database.changesCount > 0 || hasRow(version, in: "version", database)
    }

    private static func hasRow(_ version: Version, in table: String, _ database: Database) throws -> Bool {
        try Int.fetchOne(
            database.cachedStatement(sql: "SELECT 1 FROM \(table) WHERE id = ?"), arguments: [version.id])
            != nil
    }

    // MARK: match-dest

    /// A list of strings in one column; a structured-field string holds no line feed (RFC 9651 section 3.3.3).
    private static func text(_ list: [String]) -> String {
        list.map { $0 + "\n" }.joined()
    }

    private static func list(_ text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }
}

extension Version {
    /// The head as the database has it.
    fileprivate var headData: Data? { head?.bytes.map { Data($0) } }
}
