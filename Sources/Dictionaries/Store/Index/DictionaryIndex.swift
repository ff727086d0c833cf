internal import Primitives
internal import Synchronization

/// Every version that may be used: tables that one writer changes and all readers share.
///
/// Whoever changes it holds the lock of the store's state. A reader finds a change as soon as it is made; what is read
/// in one look-up is of one moment, two look-ups need not be.
package final class DictionaryIndex: Sendable {
    private let tables: Guarded<IndexTables>
    /// So many objects are kept although nobody holds them.
    let inUseMax: Int
    /// The chains that are or were named in Links, by what names them there.
    private let chainNames = StripedTable<String, ChainKey>()
    private let hasNames = Atomic<Bool>(false)

    /// How many chains of one authority that hold the same body a look-up by digest considers.
    private static let candidatesMax = 256
    static let inUseDefault = 1024
    /// How many versions are looked at before others get their turn with the lock.
    private static let stepMax: Int32 = 1024

    var versionCount: Int { tables.withLock { $0.versionCount } }
    var chainCount: Int { tables.withLock { $0.chainCount } }
    /// The private ones among them, which have a budget of their own.
    var privateChainCount: Int { tables.withLock { $0.privateChainCount } }
    /// What it takes in memory with the order of eviction, by the resident memory of processes that have opened stores of
    /// a million versions, in chains of ten and in one each.
    var memoryBytes: Int { tables.withLock { $0.memoryBytes } }
    /// The number of versions that an object stands for.
    var objectCount: Int { tables.withLock { $0.objectCount } }

    /// Makes an empty one, which keeps so many objects that nobody holds.
    init(inUseMax: Int = inUseDefault) {
        self.inUseMax = inUseMax
        tables = Guarded(IndexTables(inUseMax: inUseMax))
    }

    /// Makes room in an empty index for so many versions.
    func reserve(_ count: Int) { tables.withLock { $0.reserve(count) } }

    /// Gives room back that was made for more than there is.
    func trim() { tables.withLock { $0.trim() } }

    // MARK: Look-ups

    /// A current version with this digest in a chain of the authority and the scope whose `match` fits the URL.
    func find(
        digest: Digest, authority: String, scope: ChainKey.Scope = .public, path: String, query: String?
    ) -> Version? {
        let found = tables.withLock { tables in
            tables.versions(
                digest: digest, isApart: scope.isApart, authority: authority,
                limit: Self.candidatesMax
            ).map { tables.version(at: $0) }
        }
        // An upstream chooses the patterns and a client the URL: the chains that hold a body share one bound.
        var budget = MatchBudget()
        return found.first { version in
            version.isCurrent && version.chainKey.scope == scope
                && version.chain.covers(path: path, query: query, within: &budget)
        }
    }

    private func version(_ place: (inout IndexTables) -> Int32?) -> Version? {
        tables.withLock { tables in place(&tables).map { tables.version(at: $0) } }
    }

    /// The chain with this name, as its versions share it.
    func chain(_ key: ChainKey) -> Chain? { tables.withLock { $0.chain(key) } }

    /// What the versions of a chain take on disk, at most.
    func storedBytes(of key: ChainKey) -> Int { tables.withLock { $0.record(of: key)?.storedBytes ?? 0 } }

    /// The version that has a row in the store.
    func version(row: Int64) -> Version? { version { $0.place(ofRow: row) } }

    /// The version at a place in the tables.
    func version(at place: Int32) -> Version { tables.withLock { $0.version(at: place) } }

    /// When the version at a place was last offered or advertised.
    func lastContact(at place: Int32) -> Int { tables.withLock { $0.lastContact(at: place) } }

    /// The newest version of a URL and variant.
    func newest(_ key: VersionKey) -> Version? {
        let name = TextHash.name(url: key.url, variant: key.variant)
        return version { $0.newest(key.chainKey, name: name) }
    }

    /// The newest version of a URL and variant that had this entity tag.
    func version(_ key: VersionKey, etag: String) -> Version? {
        let (name, tag) = (TextHash.name(url: key.url, variant: key.variant), TextHash.tag(etag))
        return version { $0.version(key.chainKey, name: name, tag: tag) }
    }

    /// The version that a body makes when it returns.
    func version(_ key: VersionKey, digest: Digest) -> Version? {
        let name = TextHash.name(url: key.url, variant: key.variant)
        return version { $0.version(key.chainKey, name: name, digest: digest) }
    }

    /// A version with this digest, whatever its URL.
    func version(_ chain: ChainKey, digest: Digest) -> Version? {
        version { $0.version(chain, digest: digest) }
    }

    /// Some versions with this digest.
    func versions(_ chain: ChainKey, digest: Digest, limit: Int) -> [Version] {
        tables.withLock { tables in
            tables.versions(chain, digest: digest, limit: limit).map { tables.version(at: $0) }
        }
    }

    /// All versions with one name of their body; linear in them.
    func versions(of name: BodyName) -> [Version] {
        let all = tables.withLock { tables in
            tables.versions(digest: name.digest, isApart: name.scope.isApart).map {
                tables.version(at: $0)
            }
        }
        return all.filter { $0.bodyName == name }
    }

    /// The version of the same URL, variant and body.
    func same(as version: Version) -> Version? {
        self.version { $0.version(version.chainKey, name: version.name, digest: version.digest) }
    }

    /// True for a version that is here, and has not been replaced by another.
    func holds(_ version: Version) -> Bool { tables.withLock { $0.place(of: version) != nil } }

    /// The newest version of a URL with a head, of those that are asked for.
    func newestWithHead(_ chain: ChainKey, url: String, where isFit: (Version) -> Bool) -> Version? {
        let all = tables.withLock { $0.record(of: chain)?.withHeads[TextHash.url(url)] }
        return all?.last { $0.head?.bytes != nil && isFit($0) }
    }

    /// The versions that Links name now, the oldest first.
    func named(_ chain: ChainKey, now: Int) -> [Version] {
        (tables.withLock { $0.record(of: chain)?.pinned } ?? []).filter { $0.isPinned(at: now) }
    }

    /// The version that Links of this variant name: the newest of those that are named.
    func named(_ chain: ChainKey, variant: String, now: Int) -> Version? {
        named(chain, now: now).last { $0.variant == variant }
    }

    /// A few of the versions that came last, the newest first.
    func recent(_ chain: ChainKey) -> [Version] {
        tables.withLock { tables in tables.recent(chain).map { tables.version(at: $0) } }
    }

    /// The version with a path of its own: a Link names it, or has named it of late.
    func linked(_ path: DictionaryPath, authority: String, now: Int) -> Version? {
        guard let key = chainNames[path.chainName], key.authority == authority, key.scope == .public else {
            return nil
        }
        return named(key, now: now).last { $0.digest == path.digest }
    }

    /// The rows of other versions, some of them, whose body is the same on disk.
    func twins(of version: Version) -> [Int64] { tables.withLock { $0.twins(of: version) } }

    // MARK: All of them

    /// Every version, in no order: where no object stands for it, one is made for the moment.
    func allVersions() -> [Version] {
        var all: [Version] = []
        forEachPlace { tables, place in all.append(tables.look(at: place)) }
        return all
    }

    /// The versions of a chain, the oldest first; linear in the whole index.
    func versions(of key: ChainKey) -> [Version] {
        allVersions().filter { $0.chainKey == key }.sorted { $0.isOlder(than: $1) }
    }

    /// Notes of every version whether a route of today would make it; returns those whose own URL it has not been told.
    func judge(_ isCurrent: (Version) -> Bool) -> Set<Int64> {
        var unsure: Set<Int64> = []
        for version in allVersions() {
            judge(version, isCurrent)
            if !version.isFrom(version.url) { unsure.insert(version.id) }
        }
        return unsure
    }

    /// Notes of a version whether a route of today would make it.
    func judge(_ version: Version, _ isCurrent: (Version) -> Bool) {
        let verdict = isCurrent(version)
        version.setCurrent(verdict)
        tables.withLock { tables in
            if let place = tables.place(of: version) { tables.setCurrent(verdict, at: place) }
        }
    }

    /// The number of versions that no route of today would make, and that of all.
    func unusedCount() -> (unused: Int, all: Int) {
        var (unused, all) = (0, 0)
        forEachPlace { tables, place in
            all += 1
            if !tables.isCurrent(at: place) { unused += 1 }
        }
        return (unused, all)
    }

    /// The same for the version of a row, which says its URL.
    func judge(row: Int64, url: String, _ isCurrent: (Version) -> Bool) {
        let version = tables.withLock { tables in
            tables.place(ofRow: row).map { tables.look(at: $0, url: url) }
        }
        if let version { judge(version, isCurrent) }
    }

    /// The versions that are too old, and when the first of the others will be.
    func expired(now: Int) -> (versions: [Version], next: Int) {
        var (expired, next) = ([Version](), Int.max)
        forEachPlace { tables, place in
            let expiry = tables.expiry(at: place)
            if expiry <= now { expired.append(tables.look(at: place)) } else { next = min(next, expiry) }
        }
        return (expired, next)
    }

    /// Looks at each version, a part of them at a time: others wait no longer.
    private func forEachPlace(_ body: (inout IndexTables, Int32) -> Void) {
        var start: Int32 = 0
        while true {
            let isOver = tables.withLock { tables in
                let end = min(start + Self.stepMax, Int32(tables.placeCount))
                for place in start..<max(start, end) where tables.isTaken(place) { body(&tables, place) }
                return Int(end) >= tables.placeCount
            }
            if isOver { return }
            start += Self.stepMax
        }
    }

    // MARK: Changes

    /// What a change has left of a chain.
    struct Left {
        let chain: Chain
        /// The number of its versions.
        let count: Int
    }

    /// Adds a version; returns its chain as it is then.
    ///
    /// One that is not in use may become a record at once: what is told to the object then is lost.
    @discardableResult
    func insert(_ version: Version, isInUse: Bool = true) -> Left {
        let left = tables.withLock { $0.insert(version, isInUse: isInUse) }
        if version.pinnedUntil > 0 { addName(of: version) }
        return left
    }

    /// Puts a version in the place of another with the same URL, variant and body, so that every reader finds one of them;
    /// nil if the other is not there.
    func replace(_ former: Version, by version: Version) -> Left? {
        guard let left = tables.withLock({ $0.replace(former, by: version) }) else { return nil }
        if version.pinnedUntil > 0 { addName(of: version) }
        return left
    }

    /// Lets the chain of a version be found by its name.
    func addName(of version: Version) {
        guard version.chainKey.scope == .public else { return }
        hasNames.store(true, ordering: .relaxed)
        chainNames.change(version.chainKey.name) { $0 = version.chainKey }
        noteName(of: version)
    }

    /// Notes that Links name a version, or no longer do, as its pin says.
    func noteName(of version: Version) {
        let until = tables.withLock { $0.notePin(version) }
        if let until { chain(version.chainKey)?.pin(until: until) }
    }

    /// Removes exactly this object; returns its chain as it is then, or nil if the version is not, or no longer, there.
    func remove(_ version: Version) -> Left? {
        guard let left = tables.withLock({ $0.remove(version) }) else { return nil }
        if version.pinnedUntil > 0 { noteName(of: version) }
        // Only public chains are named, and a private one may be called as a public one is.
        if left.count == 0, version.chainKey.scope == .public, hasNames.load(ordering: .relaxed) {
            chainNames.change(version.chainKey.name) { $0 = nil }
        }
        return left
    }
}
