internal import Synchronization

/// Every version that may be used: tables that one writer changes and all readers share.
///
/// Whoever changes it holds the lock of the store's state. A reader finds a change as soon as it is made; what is read
/// in one look-up is of one moment, two look-ups need not be.
package final class DictionaryIndex: Sendable {
    /// The versions that a digest alone finds.
    private let digests = DigestTable()
    /// Those that need an id beside it: no look-up by digest takes any longer for what is here.
    private let unlistedDigests = DigestTable()
    private let chains = StripedTable<ChainKey, ChainVersions>()
    private let rows = StripedTable<Int64, Version>()
    /// The chains that are or were named in Links, by what names them there.
    private let chainNames = StripedTable<String, ChainKey>()
    private let hasNames = Atomic<Bool>(false)
    private let versionCounter = Atomic<Int>(0)
    private let nameByteCounter = Atomic<Int>(0)
    private let chainCounter = Atomic<Int>(0)
    private let privateChainCounter = Atomic<Int>(0)

    private static let versionBytes = 580
    private static let chainBytes = 680

    /// How many chains of one authority that hold the same body a look-up by digest considers.
    private static let candidatesMax = 256

    var versionCount: Int { versionCounter.load(ordering: .relaxed) }
    var chainCount: Int { chainCounter.load(ordering: .relaxed) }
    /// The private ones among them, which have a budget of their own.
    var privateChainCount: Int { privateChainCounter.load(ordering: .relaxed) }
    /// What it takes in memory with the order of eviction, by the resident memory of processes that have opened stores of
    /// 20,000 and of 100,000 versions, in chains of ten and in one each.
    var memoryBytes: Int {
        versionCount * Self.versionBytes + chainCount * Self.chainBytes
            + nameByteCounter.load(ordering: .relaxed)
    }

    init() {}

    // MARK: Look-ups

    /// A current version with this digest in a chain of the authority and the scope whose `match` fits the URL.
    func find(
        digest: Digest, authority: String, scope: ChainKey.Scope = .public, path: String, query: String?
    ) -> Version? {
        // An upstream chooses the patterns and a client the URL: the chains that hold a body share one bound.
        var budget = MatchBudget()
        return digests.first(digest: digest, authority: authority, limit: Self.candidatesMax) { version in
            version.isCurrent && version.chain.scope == scope
                && version.home.covers(path: path, query: query, within: &budget)
        }
    }

    /// Looks something up in the chain with this name; nil where there is none.
    func read<Result>(_ key: ChainKey, _ body: (ChainVersions) -> Result?) -> Result? {
        chains.read(key, body) ?? nil
    }

    /// The chain with this name, as its versions share it.
    func chain(_ key: ChainKey) -> Chain? { read(key, \.chain) }

    /// The versions of a chain, the oldest first; linear.
    func versions(of key: ChainKey) -> [Version] { read(key, \.all) ?? [] }

    /// The version that has a row in the store.
    func version(row: Int64) -> Version? { rows[row] }

    /// The version of the same URL, variant and body.
    func same(as version: Version) -> Version? {
        read(version.chain) { $0.version(url: version.url, variant: version.variant, digest: version.digest) }
    }

    /// The version with a path of its own: a Link names it, or has named it of late.
    func linked(_ path: DictionaryPath, authority: String, now: Int) -> Version? {
        guard let key = chainNames[path.chain], key.authority == authority, key.scope == .public else {
            return nil
        }
        return read(key) { $0.versions(digest: path.digest).last { $0.isPinned(at: now) } }
    }

    /// The rows of other versions, some of them, whose body is the same on disk.
    func twins(of version: Version) -> [Int64] { table(for: version.chain.scope)?.twins(of: version) ?? [] }

    private func table(for scope: ChainKey.Scope) -> DigestTable? {
        switch scope {
        case .public, .private: digests
        case .unlisted: unlistedDigests
        // The chain of one body is found by its own name alone.
        case .personal: nil
        }
    }

    /// Every version, in no order.
    func allVersions() -> [Version] {
        var all: [Version] = []
        all.reserveCapacity(versionCount)
        chains.forEach { _, versions in versions.forEach { all.append($0) } }
        return all
    }

    // MARK: Changes

    /// What a change has left of a chain.
    struct Left {
        let chain: Chain
        /// The number of its versions.
        let count: Int
    }

    /// Adds a version, which takes the row of another object that has it; returns its chain as it is then.
    @discardableResult
    func insert(_ version: Version) -> Left {
        let versions = chains.change(version.chain) { versions in
            var changed = versions.take() ?? ChainVersions(chain: version.home)
            changed.insert(version)
            let left = Left(chain: changed.chain, count: changed.count)
            versions = changed
            return left
        }
        table(for: version.chain.scope)?.insert(version)
        rows.change(version.id) { $0 = version }
        if version.pinnedUntil > 0 { addName(of: version) }
        count(version, 1, isOnly: versions.count == 1)
        return versions
    }

    /// Lets the chain of a version be found by its name.
    func addName(of version: Version) {
        guard version.chain.scope == .public else { return }
        hasNames.store(true, ordering: .relaxed)
        chainNames.change(version.chain.name) { $0 = version.chain }
        noteName(of: version)
    }

    /// Notes that Links name a version, or no longer do, as its pin says.
    func noteName(of version: Version) {
        chains.change(version.chain) { versions in
            if version.pinnedUntil > 0 { versions?.pin(version) } else { versions?.unpin(version) }
            guard let versions else { return }
            versions.chain.pin(until: versions.pinnedUntil)
        }
    }

    /// Removes exactly this object; returns its chain as it is then, or nil if the version is not, or no longer, there.
    func remove(_ version: Version) -> Left? {
        let left: Left? = chains.change(version.chain) { versions in
            guard var changed = versions.take() else { return nil }
            let isRemoved = changed.remove(version)
            let left = Left(chain: changed.chain, count: changed.count)
            if version.pinnedUntil > 0 { changed.chain.pin(until: changed.pinnedUntil) }
            versions = changed.isEmpty ? nil : changed
            return isRemoved ? left : nil
        }
        guard let left else { return nil }
        // Only public chains are named, and a private one may be called as a public one is.
        if left.count == 0, version.chain.scope == .public, hasNames.load(ordering: .relaxed) {
            chainNames.change(version.chain.name) { $0 = nil }
        }
        table(for: version.chain.scope)?.remove(version)
        rows.change(version.id) { if $0 === version { $0 = nil } }
        count(version, -1, isOnly: left.count == 0)
        return left
    }

    private func count(_ version: Version, _ number: Int, isOnly: Bool) {
        versionCounter.add(number, ordering: .relaxed)
        if isOnly { chainCounter.add(number, ordering: .relaxed) }
        let nameBytes = version.nameBytes + (isOnly ? version.chain.nameBytes : 0)
        nameByteCounter.add(number * nameBytes, ordering: .relaxed)
        if isOnly, version.chain.scope.isPrivate { privateChainCounter.add(number, ordering: .relaxed) }
    }
}
