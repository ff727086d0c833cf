internal import Dispatch
internal import Glibc

/// A store as the commands of an operator see it: opened beside the proxies that use it, as it is.
///
/// It is never made, migrated or set aside here: those are for a proxy. Every call blocks, and none holds a
/// transaction for longer than some hundred rows or one body take.
package struct StoreCatalog: Sendable {
    /// What is not listed.
    package struct Hidden: Sendable, Equatable {
        package var chains = 0
        package var versions = 0
    }

    /// What reading a body came to.
    package enum Reading: Sendable {
        case sound(Body)
        case damaged(String)
        /// Somebody has removed it meanwhile.
        case gone
    }

    package let path: String
    private let database: StoreDatabase
    /// What database and log may take; nil where it is not known.
    private let bytesMax: Int?
    /// How long a log that other processes keep from being emptied is waited for.
    private static let crowdedSecondsMax = 10

    /// Opens the database of a store, of which the files may take so much, if that is known.
    package init(path: String, bytesMax: Int? = nil) throws(StoreCatalogError) {
        guard path != ":memory:" else { throw .inMemory }
        guard StoreFile.identity(of: path) != nil else { throw .missing(path: path) }
        self.path = path
        self.bytesMax = bytesMax
        do {
            database = try StoreDatabase(existing: path)
        } catch {
            throw StoreCatalogError(error, path: path)
        }
    }

    /// Ends the use of the database.
    package func close() { database.close() }

    // MARK: Reading

    /// Every version of the public chains, in the order of chains, in each the oldest first.
    package func versions() throws(StoreCatalogError) -> [Version] {
        let versions = try attempt { () throws(StoreDatabaseError) in try database.versions() }
        return versions.filter { $0.chain.scope == .public }.sorted {
            if $0.chain != $1.chain { return $0.chain.isListedBefore($1.chain) }
            return ($0.rank, $0.id) < ($1.rank, $1.id)
        }
    }

    /// Every version of the public chains, those together that share a stored body, in the order of digests.
    ///
    /// Two processes that admit at once may each have stored the same body.
    package func versionsByBody() throws(StoreCatalogError) -> [[Version]] {
        let versions = try versions()
        let rows = try attempt { () throws(StoreDatabaseError) in try database.bodyRows() }
        // One that came or went in between stands alone.
        let bodies = Dictionary(grouping: versions) { rows[$0.id] ?? -$0.id }
        return bodies.sorted {
            guard let one = $0.value.first, let other = $1.value.first else { return false }
            return (one.digest.hex, $0.key) < (other.digest.hex, $1.key)
        }.map(\.value)
    }

    /// How many chains and versions are of one identity's own, of which nothing else is said.
    package func hidden() throws(StoreCatalogError) -> Hidden {
        try attempt { () throws(StoreDatabaseError) in try database.hidden() }
    }

    /// The body of versions with one digest, from the first of them that has it whole.
    package func body(ofAny versions: [Version]) throws(StoreCatalogError) -> Reading {
        var reading = Reading.gone
        for version in versions {
            switch try body(of: version) {
            case .sound(let body): return .sound(body)
            case .damaged(let reason): reading = .damaged(reason)
            case .gone: break
            }
        }
        return reading
    }

    /// The body of a version, checked against its digest.
    package func body(of version: Version) throws(StoreCatalogError) -> Reading {
        do throws(StoreDatabaseError) {
            guard let bytes = try database.body(of: version) else {
                return try database.hasRow(of: version) ? .damaged("it is not there") : .gone
            }
            guard Digest(of: bytes.span) == version.digest else {
                return .damaged("its bytes do not match its digest")
            }
            guard bytes.count == version.bytes else {
                return .damaged("it has \(bytes.count) bytes, where its row says \(version.bytes)")
            }
            return .sound(Body(bytes, digest: version.digest))
        } catch .damaged(let reason), .failing(let reason) {
            return .damaged(reason)
        } catch {
            throw StoreCatalogError(error, path: path)
        }
    }

    /// What database and log must take on disk, in bytes: neither the log nor what is free in the file.
    package func usedBytes() throws(StoreCatalogError) -> Int {
        try attempt { () throws(StoreDatabaseError) in
            let size = try database.size()
            return size.file - size.free + size.index
        }
    }

    // MARK: Removing

    /// Removes versions, perhaps not those that were wanted since they were read; the ones that went.
    ///
    /// A proxy on the store no longer uses them within a second.
    @discardableResult
    package func remove(_ versions: [Version], sparingWanted: Bool = false) throws(StoreCatalogError)
        -> [Version]
    {
        var removed: [Version] = []
        try remove(versions, sparingWanted: sparingWanted) { removed += $0 }
        return removed
    }

    /// The same; `report` is given what went, transaction by transaction, also before an error.
    ///
    /// Database and log stay within their limit meanwhile, unless they were beyond it before.
    package func remove(
        _ versions: [Version], sparingWanted: Bool, report: ([Version]) -> Void
    ) throws(StoreCatalogError) {
        try attempt { () throws(StoreDatabaseError) in
            var rest = versions[...]
            var end = DispatchTime.now() + .seconds(Self.crowdedSecondsMax)
            while !rest.isEmpty {
                try database.checkpoint()
                let outcome = try database.remove(
                    firstOf: rest, sparingWanted: sparingWanted, bytesMax: bytesMax)
                guard let (batch, removed) = outcome else {
                    guard DispatchTime.now() < end else {
                        throw .unavailable("its log cannot be emptied", connectionLost: false)
                    }
                    usleep(10_000)
                    continue
                }
                end = DispatchTime.now() + .seconds(Self.crowdedSecondsMax)
                rest = rest.dropFirst(batch.count)
                report(removed)
                // The next ones have more room then.
                if batch.isShort { try giveBack() }
            }
            try database.checkpoint()
        }
    }

    /// Gives what is free in the file back to the file system, in small steps, and empties the log.
    package func shrink() throws(StoreCatalogError) {
        try attempt { () throws(StoreDatabaseError) in try giveBack() }
    }

    private func giveBack() throws(StoreDatabaseError) {
        try database.checkpoint()
        var size = try database.size()
        var idleRounds = 0
        while size.free > 0, idleRounds < 3 {
            let before = size
            let pages = RemovalRoom(bytesMax: bytesMax, size: size).vacuumPages
            try database.vacuum(pages: pages) { $0.total <= before.total }
            // The file itself is only cut here.
            try database.checkpoint()
            size = try database.size()
            idleRounds = size.free < before.free && size.log == 0 ? 0 : idleRounds + 1
        }
    }

    private func attempt<Result>(_ work: () throws(StoreDatabaseError) -> Result) throws(StoreCatalogError)
        -> Result
    {
        do {
            return try work()
        } catch {
            throw StoreCatalogError(error, path: path)
        }
    }
}

extension ChainKey {
    /// The order of listings: by authority, then by match.
    fileprivate func isListedBefore(_ other: ChainKey) -> Bool {
        if authority != other.authority { return authority < other.authority }
        if match != other.match { return match < other.match }
        return matchDest.lexicographicallyPrecedes(other.matchDest)
    }
}
