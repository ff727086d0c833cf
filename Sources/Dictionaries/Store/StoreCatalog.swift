internal import FoundationEssentials

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
    /// The rows of one transaction.
    private static let batchCount = 256

    /// Opens the database of a store.
    package init(path: String) throws(StoreCatalogError) {
        guard path != ":memory:" else { throw .inMemory }
        guard StoreFile.identity(of: path) != nil else { throw .missing(path: path) }
        self.path = path
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

    /// What database and log take on disk, in bytes.
    package func diskBytes() throws(StoreCatalogError) -> Int {
        try attempt { () throws(StoreDatabaseError) in try database.size().total }
    }

    // MARK: Removing

    /// Removes versions, perhaps not those that were wanted since they were read; the ones that went.
    ///
    /// A proxy on the store no longer uses them within a second.
    package func remove(_ versions: [Version], sparingWanted: Bool = false) throws(StoreCatalogError)
        -> [Version]
    {
        var removed: [Version] = []
        for start in stride(from: 0, to: versions.count, by: Self.batchCount) {
            let group = Array(versions[start..<min(start + Self.batchCount, versions.count)])
            removed += try attempt { () throws(StoreDatabaseError) in
                try database.remove(group, sparingWanted: sparingWanted)
            }
        }
        return removed
    }

    /// Gives what is free in the file back to the file system, in small steps, and empties the log.
    package func shrink() throws(StoreCatalogError) {
        try attempt { () throws(StoreDatabaseError) in
            var free = try database.size().free
            while free > 0 {
                try database.vacuum(pages: 256)
                let less = try database.size().free
                guard less < free else { break }
                free = less
            }
            try database.checkpoint()
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
