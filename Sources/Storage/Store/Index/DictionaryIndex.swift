internal import Dictionaries
internal import Primitives

/// Every version that may be used: tables that one writer changes and all readers share.
///
/// Changes happen under the lock of the store's state. A reader finds a change at once. One look-up sees a
/// single moment; two look-ups may see different ones.
package final class DictionaryIndex: Sendable {
    let tables: Guarded<IndexTables>
    /// The number of unused objects that are kept.
    let inUseMax: Int
    /// The chains that are or were named in Links, by their names.
    private let chainNames = Guarded<[String: ChainKey]>([:])

    /// The upper bound of chains that a look-up by digest examines.
    private static let candidatesMax = 256
    static let inUseDefault = 1024
    /// The number of versions that are examined under one hold of the lock.
    static let stepMax = 1024

    var versionCount: Int { tables.withLock { $0.versionCount } }
    var chainCount: Int { tables.withLock { $0.chainCount } }
    /// The number of private chains, which have a budget of their own.
    var privateChainCount: Int { tables.withLock { $0.privateChainCount } }
    var memoryBytes: Int { tables.withLock { $0.memoryBytes } }

    /// Makes an empty index that keeps at most `inUseMax` unused objects.
    init(inUseMax: Int = inUseDefault) {
        self.inUseMax = inUseMax
        tables = Guarded(IndexTables(inUseMax: inUseMax))
    }

    /// Makes room in an empty index for so many versions.
    func reserve(_ count: Int) { tables.withLock { $0.reserve(count) } }

    /// Frees room that was made for more versions than there are.
    func trim() { tables.withLock { $0.resources.trim() } }

    // MARK: Look-ups

    /// Returns a current version with this digest in a chain of the authority and the scope whose `match`
    /// covers the URL.
    func find(
        digest: Digest, authority: String, scope: ChainKey.Scope = .public, url: PathAndQuery
    ) -> Version? {
        let found = tables.withLock { tables in
            tables.versions(
                digest: digest, isApart: scope.isApart, authority: authority,
                limit: Self.candidatesMax
            ).map { tables.version(at: $0) }
        }
        // An upstream chooses the patterns and a client the URL, so all chains that hold a body share one
        // budget.
        var budget = MatchBudget()
        return found.first { version in
            version.isCurrent && version.chainKey.scope == scope
                && version.chain.covers(url, within: &budget)
        }
    }

    private func version(_ place: (inout IndexTables) -> Int32?) -> Version? {
        tables.withLock { tables in place(&tables).map { tables.version(at: $0) } }
    }

    func chain(_ key: ChainKey) -> Chain? { tables.withLock { $0.chain(key) } }

    /// Returns the bytes of a chain's versions on disk, estimated from above.
    func storedBytes(of key: ChainKey) -> Int { tables.withLock { $0.record(of: key)?.storedBytes ?? 0 } }

    func version(row: Int64) -> Version? { version { $0.place(ofRow: row) } }

    func version(at place: Int32) -> Version { tables.withLock { $0.version(at: place) } }

    /// Returns the time at which the version at a place was last offered or advertised.
    func lastContact(at place: Int32) -> Int { tables.withLock { Int($0.state(at: place).lastContact) } }

    func newest(_ key: VersionKey) -> Version? {
        let name = VersionHashes.name(url: key.url, variant: key.variant)
        return version { $0.newest(key.chainKey, name: name) }
    }

    func version(_ key: VersionKey, etag: String) -> Version? {
        let (name, tag) = (VersionHashes.name(url: key.url, variant: key.variant), VersionHashes.tag(etag))
        return version { $0.version(key.chainKey, name: name, tag: tag) }
    }

    /// Returns the version of a URL and variant with this digest.
    func version(_ key: VersionKey, digest: Digest) -> Version? {
        let name = VersionHashes.name(url: key.url, variant: key.variant)
        return version { $0.version(key.chainKey, name: name, digest: digest) }
    }

    /// Returns a version with this digest, for any URL.
    func version(_ chain: ChainKey, digest: Digest) -> Version? {
        version { $0.version(chain, digest: digest) }
    }

    func versions(_ chain: ChainKey, digest: Digest, limit: Int) -> [Version] {
        tables.withLock { tables in
            tables.versions(chain, digest: digest, limit: limit).map { tables.version(at: $0) }
        }
    }

    /// Returns all versions of a stored body; linear in their number.
    func versions(of name: BodyName) -> [Version] {
        let all = tables.withLock { tables in
            tables.versions(digest: name.digest, isApart: name.scope.isApart).map {
                tables.version(at: $0)
            }
        }
        return all.filter { $0.bodyName == name }
    }

    /// Returns the version of the same URL, variant and body.
    func same(as version: Version) -> Version? {
        self.version { $0.version(version.chainKey, name: version.hashes.name, digest: version.digest) }
    }

    /// True if the version is here and was not replaced by another.
    func holds(_ version: Version) -> Bool { tables.withLock { $0.place(of: version) != nil } }

    /// Returns the newest version of a URL with a head, of those that `isFit` accepts.
    func newestWithHead(_ chain: ChainKey, url: String, where isFit: (Version) -> Bool) -> Version? {
        let all = tables.withLock { $0.record(of: chain)?.withHeads[VersionHashes.url(url)] }
        return all?.last { $0.head?.bytes != nil && isFit($0) }
    }

    /// Returns the versions that Links name now, the oldest first.
    func named(_ chain: ChainKey, now: Int) -> [Version] {
        (tables.withLock { $0.record(of: chain)?.pinned } ?? []).filter { $0.isPinned(at: now) }
    }

    /// Returns the version that Links of this variant name: the newest named one.
    func named(_ chain: ChainKey, variant: String, now: Int) -> Version? {
        named(chain, now: now).last { $0.variant == variant }
    }

    /// Returns a few of the latest versions, the newest first.
    func recent(_ chain: ChainKey) -> [Version] {
        tables.withLock { tables in tables.recent(chain).map { tables.version(at: $0) } }
    }

    /// Returns the version with a path of its own that a Link names, or named recently.
    func linked(_ path: DictionaryPath, authority: String, now: Int) -> Version? {
        guard let key = chainNames.withLock({ $0[path.chainName] }), key.authority == authority,
            key.scope == .public
        else { return nil }
        return named(key, now: now).last { $0.digest == path.digest }
    }

    /// Returns the rows of some other versions with the same body on disk.
    func siblings(of version: Version) -> [Int64] { tables.withLock { $0.siblings(of: version) } }

    // MARK: All of them

    /// Returns every version, in no order; versions without an object get one for the moment.
    func allVersions() -> [Version] {
        var all: [Version] = []
        forEachPlace { tables, place in all.append(tables.look(at: place)) }
        return all
    }

    /// Applies the rule to every version; returns those that do not know their own URL, which it may ask for.
    ///
    /// No rule asks for the URL of a sealed one, and no row says it.
    func judge(_ isCurrent: (Version) -> Bool) -> Set<Int64> {
        var unsure: Set<Int64> = []
        for version in allVersions() {
            judge(version, isCurrent)
            if !version.chainKey.scope.isSealed, !version.isFrom(version.url) { unsure.insert(version.id) }
        }
        return unsure
    }

    /// Records whether a present route would make a version.
    func judge(_ version: Version, _ isCurrent: (Version) -> Bool) {
        let verdict = isCurrent(version)
        version.setCurrent(verdict)
        tables.withLock { tables in
            if let place = tables.place(of: version) { tables.setCurrent(verdict, at: place) }
        }
    }

    /// Returns the number of versions that no present route would make, and the number of all.
    func unusedCount() -> (unused: Int, all: Int) {
        var (unused, all) = (0, 0)
        forEachPlace { tables, place in
            all += 1
            if !tables.state(at: place).flags.contains(.isCurrent) { unused += 1 }
        }
        return (unused, all)
    }

    /// Applies the rule to the version of a row with the URL that the row says.
    func judge(row: Int64, url: String, _ isCurrent: (Version) -> Bool) {
        let version = tables.withLock { tables in tables.place(ofRow: row).map { tables.look(at: $0) } }
        guard let version else { return }
        judge(version.hasOwnURL ? version : version.with(url: url, etag: version.etag), isCurrent)
    }

    func expired(now: Int) -> (versions: [Version], next: Int) {
        var (expired, next) = ([Version](), Int.max)
        forEachPlace { tables, place in
            let expiry = tables.expiry(at: place)
            if expiry <= now { expired.append(tables.look(at: place)) } else { next = min(next, expiry) }
        }
        return (expired, next)
    }

    private func forEachPlace(_ body: (inout IndexTables, Int32) -> Void) {
        inSteps { tables, step in
            for place in step.clamped(to: 0..<tables.placeCount) where tables.isTaken(Int32(place)) {
                body(&tables, Int32(place))
            }
            return step.upperBound >= tables.placeCount
        }
    }

    /// Calls `body` with some places per hold of the lock, so that others wait no longer than that, until it returns true.
    func inSteps(_ body: (inout IndexTables, Range<Int>) -> Bool) {
        var start = 0
        while !tables.withLock({ body(&$0, start..<start + Self.stepMax) }) { start += Self.stepMax }
    }

    // MARK: Changes

    /// Exchanges everything with another index: who has this one finds all of the other's versions at once.
    func exchange(with other: DictionaryIndex) {
        tables.withLock { own in other.tables.withLock { swap(&own, &$0) } }
        chainNames.withLock { own in other.chainNames.withLock { swap(&own, &$0) } }
    }

    struct ChainStatus {
        let chain: Chain
        let count: Int
        /// The promised ids that went with a version that was removed.
        var promises = PromisedIDs()
    }

    /// Adds a version and returns the state of its chain.
    ///
    /// A version that is not in use may become a record at once; changes to the given object are then lost.
    @discardableResult
    func insert(_ version: Version, isInUse: Bool = true) -> ChainStatus {
        let status = tables.withLock { $0.insert(version, isInUse: isInUse) }
        if version.pinnedUntil > 0 { addName(of: version) }
        return status
    }

    /// Replaces a version by another of the same URL, variant and body, so that every reader finds one of
    /// them.
    ///
    /// Returns nil if the former version is not there.
    func replace(_ former: Version, by version: Version) -> ChainStatus? {
        guard let status = tables.withLock({ $0.replace(former, by: version) }) else { return nil }
        if version.pinnedUntil > 0 { addName(of: version) }
        return status
    }

    /// Makes the chain of a version known by its name.
    func addName(of version: Version) {
        guard version.chainKey.scope == .public else { return }
        chainNames.withLock { $0[version.chainKey.name] = version.chainKey }
        recordPin(of: version)
    }

    /// Records whether Links name a version, as its pin says.
    func recordPin(of version: Version) {
        let until = tables.withLock { $0.recordPin(of: version) }
        if let until { chain(version.chainKey)?.pin(until: until) }
    }

    /// Removes exactly this version and returns the state of its chain; nil if the version is not there any
    /// more.
    func remove(_ version: Version) -> ChainStatus? {
        guard let status = tables.withLock({ $0.remove(version) }) else { return nil }
        if version.pinnedUntil > 0 { recordPin(of: version) }
        // Only public chains are named, and a private one may have the same name as a public one.
        if status.count == 0, version.chainKey.scope == .public {
            chainNames.withLock { if !$0.isEmpty { $0[version.chainKey.name] = nil } }
        }
        return status
    }
}
