internal import Dictionaries
internal import FoundationEssentials
internal import GRDB
internal import Primitives

extension StoreDatabase {
    /// Calls `body` with every valid public version, without its body; skips rows with invalid values.
    func forEachVersion(_ body: (Version) -> Void) throws(StoreDatabaseError) {
        try read { database in
            let chains = try StoreRows.chains(database)
            let now = Int(SystemClock.unixMicroseconds / 1_000_000)
            let columns = "\(StoreRows.columns), promises, pinned_until, head, digest, is_proven_public"
            let rows = try RowReader(database, sql: "SELECT \(columns) FROM version")
            while try rows.next() {
                guard let chain = rows.integer(1), let known = chains[chain], let digest = rows.digest(19)
                else { continue }
                let version = StoreRows.version(
                    rows, chain: known, digest: digest, now: now, pinnedUntil: rows.integer(17) ?? 0,
                    head: rows.bytes(18).flatMap { StoredHead($0, memory: heads) },
                    isProvenPublic: rows.integer(20) == 1)
                if let version { body(version) }
            }
        }
    }

    /// Calls `body` with the row and the URL of every public version.
    func forEachURL(_ body: (Int64, String) -> Void) throws(StoreDatabaseError) {
        try read { database in
            let rows = try RowReader(database, sql: "SELECT id, url FROM version")
            while try rows.next() {
                if let id = rows.integer(0), let url = rows.text(1) { body(id, url) }
            }
        }
    }
}

enum StoreRows {
    // MARK: Reading

    /// The columns that `version` reads, in this order, followed by `promises`.
    static let columns = """
        id, chain, url, variant, etag, content_type, size, rank, admitted, last_wanted, max_age, is_upstream_match,
        holders, is_proven, last_offered, last_advertised
        """

    /// Decodes the `columns` without a trap; returns nil if they make no sense.
    ///
    /// A version that is not named has no URL.
    static func version(
        _ row: RowReader, chain: Chain, digest: Digest, now: Int, pinnedUntil: Int64 = 0,
        head: StoredHead? = nil, isProvenPublic: Bool = false, isNamed: Bool = true
    ) -> Version? {
        guard let id = row.integer(0), let url = row.text(2), let variant = row.text(3),
            let size = row.integer(6).flatMap(sensible), size <= Int(UInt32.max), let rank = row.integer(7),
            let admitted = row.integer(8).flatMap(sensible),
            let lastWanted = row.integer(9).flatMap(sensible),
            let maxAge = row.integer(10).flatMap(sensible), (0..<(Int64.max / 2)).contains(rank)
        else { return nil }
        // A clock that was ahead must not prolong the life of a version.
        let wanted = min(lastWanted, now)
        let facts = VersionFacts(
            digest: digest, url: isNamed ? url : "", etag: row.text(4), bytes: size,
            traits: VersionTraits(
                variant: variant, contentType: row.text(5), maxAge: maxAge,
                isUpstreamMatch: row.integer(11) == 1))
        var state = state(row, admittedAt: min(admitted, now), lastWanted: wanted, now: now)
        if isProvenPublic { state.flags.insert(.isProvenPublic) }
        let isPinned = pinnedUntil <= now + StoreDemand.pinSecondsMax
        return Version(
            facts, id: id, rank: rank, chain: chain, state,
            rare: RareState(pinnedUntil: isPinned ? UInt32(clamping: pinnedUntil) : 0), head: head,
            promises: row.bytes(16).map { PromisedIDs(bytes: $0) } ?? PromisedIDs())
    }

    /// Returns the state of a version; no time in it is in the future.
    private static func state(
        _ row: RowReader, admittedAt: Int, lastWanted: Int, now: Int
    ) -> VersionState {
        func second(_ column: Int32) -> UInt32 {
            min(UInt32(clamping: row.integer(column) ?? 0), Version.seconds(now))
        }
        var state = VersionState(admittedAt: lastWanted)
        state.admittedAt = Version.seconds(admittedAt)
        state.hold(UInt32(clamping: row.integer(12) ?? 1), hasReturned: row.integer(13) != 0)
        state.lastOffered = second(14)
        state.lastContact = max(state.lastWanted, state.lastOffered, second(15))
        return state
    }

    /// Returns the number, or nil if it is outside the range that is safe to add and compare.
    private static func sensible(_ number: Int64) -> Int? {
        (0...Int64(Version.secondsMax)).contains(number) ? Int(number) : nil
    }

    fileprivate static func chains(_ database: Database) throws -> [Int64: Chain] {
        var chains: [Int64: Chain] = [:]
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT id, authority, scope, "match", match_dest, established FROM chain
                """)
        while let row = try rows.next() {
            guard let id: Int64 = row.value(0), let authority: String = row.value(1),
                let scopeName: String = row.value(2), let scope = ChainKey.Scope(kind: scopeName, tag: nil),
                let match: String = row.value(3), let destinations: String = row.value(4)
            else { continue }
            let key = ChainKey(
                authority: authority, scope: scope, match: match, matchDest: list(destinations))
            chains[id] = Chain(key, isEstablished: row.value(5) ?? 0 != 0)
        }
        return chains
    }

    // MARK: Writing

    /// Applies a batch; runs inside a transaction.
    ///
    /// Returns the missing bases; bodies over them were written whole.
    static func apply(_ batch: PendingWrites.Batch, to database: Database, _ keys: StoreKeys?) throws
        -> Set<Int64>
    {
        let establish = try database.cachedStatement(
            sql: "UPDATE chain SET established = 1 WHERE id = (SELECT chain FROM version WHERE id = ?)")
        for id in batch.established { try establish.execute(arguments: [id]) }
        // Removals come before insertions, so that a body that left and came back is written again. Removals
        // and touches know only the row number, which is unique across both tables.
        let tables = keys == nil ? ["version"] : ["version", "private_version"]
        for table in tables {
            let delete = try database.cachedStatement(sql: "DELETE FROM \(table) WHERE id = ?")
            for id in batch.removals { try delete.execute(arguments: [id]) }
        }
        var missing: Set<Int64> = []
        for insertion in batch.insertions { try insert(insertion, into: database, keys, &missing) }
        for change in batch.changes.values {
            if let version = change.renewal { try renew(version, in: database) }
        }
        let pin = try database.cachedStatement(sql: "UPDATE version SET pinned_until = ? WHERE id = ?")
        let prove = try database.cachedStatement(sql: "UPDATE version SET is_proven_public = 1 WHERE id = ?")
        for (id, change) in batch.changes {
            if let until = change.pinnedUntil { try pin.execute(arguments: [until, id]) }
            if change.isProvenPublic { try prove.execute(arguments: [id]) }
        }
        for table in tables { try apply(batch.changes, to: table, database) }
        return missing
    }

    /// Writes the changes that versions of both tables may have.
    private static func apply(
        _ changes: [Int64: PendingWrites.Change], to table: String, _ database: Database
    ) throws {
        let touch = try database.cachedStatement(
            sql: "UPDATE \(table) SET last_wanted = \(laterWanted) WHERE id = ?")
        let note = try database.cachedStatement(
            sql: """
                UPDATE \(table) SET holders = ?, is_proven = ?, last_offered = ?, last_advertised = ? WHERE id = ?
                """)
        let promise = try database.cachedStatement(sql: "UPDATE \(table) SET promises = ? WHERE id = ?")
        for (id, change) in changes {
            if let lastWanted = change.lastWanted { try touch.execute(arguments: [lastWanted, id]) }
            if let demand = change.demand { try note.execute(arguments: arguments(demand) + [id]) }
            if let promises = change.promises { try promise.execute(arguments: [promises.data, id]) }
        }
    }

    /// The later of a row's value and an argument, where times in the future do not count.
    static let laterWanted = "max(min(last_wanted, unixepoch()), ?)"

    /// Returns the four demand columns in the order of every statement.
    static func arguments(_ state: VersionState) -> StatementArguments {
        [state.holders, state.flags.contains(.hasReturned), state.lastOffered, state.lastContact]
    }

    private static func insert(
        _ insertion: PendingWrites.Insertion, into database: Database, _ keys: StoreKeys?,
        _ missing: inout Set<Int64>
    ) throws {
        let version = insertion.version
        if version.chainKey.scope.isSealed {
            // There are no private versions without keys, and none is ever written to the public tables.
            guard let keys else { return }
            return try PrivateRows.insert(insertion, into: database, keys)
        }
        try make(insertion, inChain: try row(of: version.chain, in: database), database, &missing)
        if version.headData != nil { try forgetFormerHeads(of: version, in: database) }
    }

    /// Returns the row of a chain and makes it if it is missing.
    private static func row(of chain: Chain, in database: Database) throws -> Int64? {
        let names: StatementArguments = [
            chain.key.authority, chain.key.scope.kind, chain.key.match, text(chain.key.matchDest),
        ]
        try database.cachedStatement(
            sql: """
                INSERT INTO chain (authority, scope, "match", match_dest, established) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET established = 1 WHERE excluded.established > established
                """
        ).execute(arguments: names + [chain.isEstablished])
        return try Int64.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT id FROM chain
                    WHERE authority = ? AND scope = ? AND "match" = ? AND match_dest = ?
                    """), arguments: names)
    }

    /// Makes the row of a version, and that of its body if no other version has it.
    ///
    /// It has no effect if an existing row that was skipped as invalid is in the way; the version then lives
    /// in memory only.
    private static func make(
        _ insertion: PendingWrites.Insertion, inChain chain: Int64?, _ database: Database,
        _ missing: inout Set<Int64>
    ) throws {
        let version = insertion.version
        let body = try bodyRow(for: insertion, database, &missing)
        try database.cachedStatement(
            sql: """
                INSERT INTO version (id, chain, body, digest, url, variant, etag, content_type, size, rank,
                    admitted, last_wanted, max_age, pinned_until, is_upstream_match, head, is_proven_public,
                    holders, is_proven, last_offered, last_advertised, promises)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                """
        ).execute(
            arguments: [
                version.id, chain, body.row, Data(version.digest.bytes), version.url, version.variant,
                version.etag, version.contentType, version.bytes, version.rank, version.admittedAt,
                version.lastWanted, version.maxAge, version.pinnedUntil, version.isUpstreamMatch,
                version.headData, version.isProvenPublic,
            ] + arguments(version.counters.state) + [insertion.promises.data])
        guard body.isNew, database.changesCount == 0 else { return }
        try database.cachedStatement(sql: "DELETE FROM body WHERE id = ?").execute(arguments: [body.row])
    }

    /// Returns the row of the body of a sibling, if one of them has it by now; otherwise a new row.
    private static func bodyRow(
        for insertion: PendingWrites.Insertion, _ database: Database, _ missing: inout Set<Int64>
    ) throws -> (row: Int64, isNew: Bool) {
        let digest = Data(insertion.version.digest.bytes)
        for sibling in insertion.siblings {
            let shared = try Int64.fetchOne(
                database.cachedStatement(
                    sql: """
                        SELECT body.id FROM version JOIN body ON body.id = version.body
                        WHERE version.id = ? AND digest = ?
                        """), arguments: [sibling, digest])
            if let shared { return (shared, false) }
        }
        return (try makeBody(insertion, database, missing: &missing), true)
    }

    /// Removes the heads of older versions, since the upstream is only asked about the newest of a URL and
    /// variant.
    private static func forgetFormerHeads(of version: Version, in database: Database) throws {
        try database.cachedStatement(
            sql: """
                UPDATE version SET head = NULL WHERE head IS NOT NULL AND id <> ? AND url = ? AND variant = ?
                AND chain = (SELECT chain FROM version WHERE id = ?)
                """
        ).execute(arguments: [version.id, version.url, version.variant, version.id])
    }

    private static func renew(_ version: Version, in database: Database) throws {
        let isSealed = version.chainKey.scope.isSealed
        // The table of private versions has no heads.
        let head: StatementArguments = isSealed ? [] : [version.headData]
        try database.cachedStatement(
            sql: """
                UPDATE \(isSealed ? "private_version" : "version") SET \(isSealed ? "" : "head = ?,")
                    etag = ?, content_type = ?, rank = ?, last_wanted = \(laterWanted), max_age = ?,
                    is_upstream_match = ?, holders = ?, is_proven = ?, last_offered = ?, last_advertised = ?
                WHERE id = ? AND rank <= ?
                """
        ).execute(
            arguments: head + [
                version.etag, version.contentType, version.rank, version.lastWanted, version.maxAge,
                version.isUpstreamMatch,
            ] + arguments(version.counters.state) + [version.id, version.rank])
    }

    // MARK: match-dest

    /// Encodes a list of strings for one column; a structured-field string holds no line feed (RFC 9651
    /// section 3.3.3).
    private static func text(_ list: [String]) -> String {
        list.map { $0 + "\n" }.joined()
    }

    private static func list(_ text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }
}

extension Version {
    fileprivate var headData: Data? { head?.bytes.map { Data($0) } }
}

extension PromisedIDs {
    /// The value of the column; nil without any.
    var data: Data? { isEmpty ? nil : Data(bytes) }
}
