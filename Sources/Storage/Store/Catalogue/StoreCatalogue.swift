package import Dictionaries
internal import Dispatch
internal import Glibc
internal import Primitives

/// A store as an operator's command sees it: opened as it is, beside the proxies that use it.
///
/// A command never creates or sets aside a store; only a proxy does. Every call blocks, and no
/// transaction lasts longer than some hundred rows or one body take.
package struct StoreCatalogue: Sendable {
    /// The counts of versions that are not listed.
    package struct Hidden: Sendable, Equatable, Encodable {
        package var chains = 0
        package var versions = 0
    }

    package enum Reading: Sendable {
        case sound(Body)
        case damaged(String)
        /// The row was removed in the meantime.
        case gone
    }

    package let path: String
    private let database: StoreDatabase
    /// The lock for writing, once this command has taken it.
    private let lock = Guarded<StoreLock?>(nil)
    /// The time to wait for the process that writes the store.
    private static let askedSecondsMax = 10
    /// The upper bound of bytes that one transaction overwrites.
    private static let eraseBytesMax = 8 << 20

    package init(path: String) throws(StoreCatalogueError) {
        guard path != ":memory:" else { throw .inMemory }
        guard StoreFile.identity(of: path) != nil else { throw .missing(path: path) }
        if let refusal = StoreFile.refusal(of: path) { throw .refused(refusal) }
        self.path = path
        do {
            database = try StoreDatabase(path: path, isVisitor: true)
        } catch {
            throw StoreCatalogueError(error, path: path)
        }
    }

    package func close() {
        database.close()
        lock.withLock { $0.take() }?.release()
    }

    // MARK: Reading

    /// Returns every version of the public chains, grouped by chain, the oldest of each first.
    package func versions() throws(StoreCatalogueError) -> [Version] {
        let versions = try attempt { () throws(StoreDatabaseError) in try database.versions() }
        return versions.filter { !$0.chainKey.scope.isSealed }.sorted {
            if $0.chainKey != $1.chainKey { return $0.chainKey.isListedBefore($1.chainKey) }
            return ($0.rank, $0.id) < ($1.rank, $1.id)
        }
    }

    /// Returns every version of the public chains, grouped by their stored body, in the order of digests.
    ///
    /// A file may have the same body in two rows.
    package func versionsByBody() throws(StoreCatalogueError) -> [[Version]] {
        let versions = try versions()
        let rows = try attempt { () throws(StoreDatabaseError) in try database.bodyRows() }
        // A version that came or went between the two reads stands alone.
        let bodies = Dictionary(grouping: versions) { rows[$0.id] ?? -$0.id }
        return bodies.sorted {
            guard let one = $0.value.first, let other = $1.value.first else { return false }
            return (one.digest.hex, $0.key) < (other.digest.hex, $1.key)
        }.map(\.value)
    }

    /// Returns the number of chains and versions that belong to one identity each.
    package func hidden() throws(StoreCatalogueError) -> Hidden {
        try attempt { () throws(StoreDatabaseError) in try database.hidden() }
    }

    /// Returns the body of versions with one digest, from the first of them whose body is intact.
    package func body(ofAny versions: [Version]) throws(StoreCatalogueError) -> Reading {
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

    /// Returns the body of a version, verified by its digest.
    package func body(of version: Version) throws(StoreCatalogueError) -> Reading {
        do throws(StoreDatabaseError) {
            guard let bytes = try database.body(of: version) else {
                return try database.hasRow(of: version) ? .damaged("its body is missing") : .gone
            }
            guard Digest(of: bytes.span) == version.digest else {
                return .damaged("its bytes do not match its digest")
            }
            guard bytes.count == version.bytes else {
                return .damaged("it has \(bytes.count) bytes, but its row says \(version.bytes)")
            }
            return .sound(Body(bytes, digest: version.digest))
        } catch .damaged(let reason), .failing(let reason) {
            return .damaged(reason)
        } catch {
            throw StoreCatalogueError(error, path: path)
        }
    }

    /// Returns the bytes that the store needs on disk, without the log and the free part of the file.
    package func usedBytes() throws(StoreCatalogueError) -> Int {
        try attempt { () throws(StoreDatabaseError) in
            let size = try database.size()
            return size.file - size.free + size.index
        }
    }

    // MARK: Removing

    /// Removes versions and returns those that were removed.
    ///
    /// If `sparingWanted` is set, versions that were wanted since they were read stay.
    @discardableResult
    package func remove(_ versions: [Version], sparingWanted: Bool = false) throws(StoreCatalogueError)
        -> [Version]
    {
        var removed: [Version] = []
        try remove(versions, sparingWanted: sparingWanted) { removed += $0 }
        return removed
    }

    /// Removes versions and calls `report` with each part that was removed, also before an error is thrown.
    ///
    /// If a proxy writes the store, that proxy removes the versions and stops using them.
    package func remove(
        _ versions: [Version], sparingWanted: Bool, report: ([Version]) -> Void
    ) throws(StoreCatalogueError) {
        try attempt { () throws(StoreDatabaseError) in
            var rest = versions[...]
            while !rest.isEmpty {
                let part = nextPart(of: rest)
                if let holder = try holder() {
                    try ask(holder, toRemove: part, sparingWanted: sparingWanted, report)
                } else {
                    report(try database.erase(part, sparingWanted: sparingWanted))
                    try database.checkpoint()
                }
                rest = rest.dropFirst(part.count)
            }
        }
    }

    private func nextPart(of versions: ArraySlice<Version>) -> ArraySlice<Version> {
        var bytes = 0
        return versions.prefix(256).prefix { version in
            defer { bytes += version.bytes }
            return bytes < Self.eraseBytesMax
        }
    }

    /// Returns the free part of the file to the file system.
    ///
    /// If a proxy writes the store, the proxy does so itself.
    package func shrink() throws(StoreCatalogueError) {
        try attempt { () throws(StoreDatabaseError) in
            guard try holder() == nil else { return }
            try database.checkpoint()
            var free = try database.size().free
            var idleRounds = 0
            while free > 0, idleRounds < 3 {
                try database.giveBack(pages: 1024)
                let left = try database.size().free
                idleRounds = left < free ? 0 : idleRounds + 1
                free = left
            }
        }
    }

    // MARK: The process that writes

    /// Returns the process that writes the store; nil if this process holds the lock.
    private func holder() throws(StoreDatabaseError) -> String? {
        guard lock.withLock({ $0 == nil }) else { return nil }
        switch StoreLock.take(for: path) {
        case .taken(let taken):
            lock.withLock { $0 = taken }
            return nil
        case .held(let process):
            return process.map { "process \($0)" } ?? "another process"
        case .failed(let reason):
            throw .unavailable("its lock cannot be taken: \(reason)", connectionLost: false)
        }
    }

    /// Asks the writing process to remove versions, and waits until it has done so or has ended.
    private func ask(
        _ holder: String, toRemove versions: ArraySlice<Version>, sparingWanted: Bool,
        _ report: ([Version]) -> Void
    ) throws(StoreDatabaseError) {
        let removals = versions.map { Removal($0, isSparing: sparingWanted) }
        let ids = removals.map(\.id)
        let present = try database.state(of: ids).present
        func gone(_ rows: Set<Int64>) -> [Version] {
            versions.filter { present.contains($0.id) && !rows.contains($0.id) }
        }
        try database.ask(for: removals)
        let end = DispatchTime.now() + .seconds(Self.askedSecondsMax)
        while true {
            let rows = try database.state(of: ids)
            if rows.asked.isEmpty { return report(gone(rows.present)) }
            if try self.holder() == nil {
                // The process ended before it got to these; it may have got to others since they were read.
                let rows = try database.state(of: ids)
                let left = versions.filter { rows.asked.contains($0.id) }
                report(gone(rows.present))
                let removed = try database.erase(left, sparingWanted: sparingWanted)
                try database.end(removals, removing: [])
                return report(removed)
            }
            guard DispatchTime.now() < end else {
                try database.end(removals, removing: [])
                report(gone(rows.present))
                throw .unavailable(
                    "\(holder) writes it, and has not removed the versions within "
                        + "\(Self.askedSecondsMax) s", connectionLost: false)
            }
            usleep(20_000)
        }
    }

    private func attempt<Result>(_ work: () throws(StoreDatabaseError) -> Result) throws(StoreCatalogueError)
        -> Result
    {
        do {
            return try work()
        } catch {
            throw StoreCatalogueError(error, path: path)
        }
    }

    /// Returns the versions that a proxy with these limits evicts, the first to go first, each with the reason.
    ///
    /// - Parameter usedBytes: The bytes that the store takes on disk.
    package static func evictions(
        among versions: [Version], chainsMax: Int, bytesMax: Int, usedBytes: Int, now: Int
    ) -> [(version: Version, reason: StoreStatistics.Eviction)] {
        var state = StoreState(limits: StoreLimits(chains: chainsMax, bytes: bytesMax))
        for version in versions { state.load(version) }
        state.retention.sort(in: state.index)
        var evicted = StoreState.Evicted()
        var count = -1
        while evicted.versions.count > count {
            count = evicted.versions.count
            state.evictBeyondLimits(now: now, into: &evicted)
            let excess = usedBytes - bytesMax - evicted.versions.reduce(0) { $0 + $1.version.storedBytes }
            guard evicted.versions.count == count, excess > 0 else { continue }
            evicted.versions += state.evictLeastWanted(bytes: excess, now: now, except: []).versions
        }
        return evicted.versions
    }
}

extension ChainKey {
    /// True if the chain is listed before another: by authority, then by match.
    fileprivate func isListedBefore(_ other: ChainKey) -> Bool {
        if authority != other.authority { return authority < other.authority }
        if match != other.match { return match < other.match }
        if matchDest != other.matchDest { return matchDest.lexicographicallyPrecedes(other.matchDest) }
        return scope == .public && other.scope != .public
    }
}

/// A reason why a command on a store failed.
package enum StoreCatalogueError: Error, CustomStringConvertible {
    /// The store is in the memory of a proxy.
    case inMemory
    case missing(path: String)
    /// The file belongs to another program, or to another version of this one.
    case refused(StoreError)
    /// The file cannot be read.
    case damaged(path: String, reason: String)
    /// The file cannot be used for now.
    case unavailable(path: String, reason: String)

    init(_ error: StoreDatabaseError, path: String) {
        switch error {
        case .refused(let error): self = .refused(error)
        case .damaged(let reason): self = .damaged(path: path, reason: reason)
        case .unavailable(let reason, _), .locked(let reason), .failing(let reason), .rejected(let reason):
            self = .unavailable(path: path, reason: reason)
        }
    }

    package var description: String {
        switch self {
        case .inMemory:
            "the store is :memory:, which only its proxy can read: name a file in store.path"
        case .missing(let path):
            "there is no store at \(path): a proxy makes it when it starts; check store.path, which is relative "
                + "to the folder the proxy was started in"
        case .refused(let error): error.description
        case .damaged(let path, let reason):
            "the store \(path) is damaged (\(reason)): a proxy sets it aside when it starts; sqlite3 may recover it"
        case .unavailable(let path, let reason):
            "the store \(path) cannot be used for now: \(reason); check its permissions, its disk and which processes use it (`fuser`), then try again"
        }
    }
}
