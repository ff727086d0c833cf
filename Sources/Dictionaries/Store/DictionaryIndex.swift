internal import HashTreeCollections

/// Every version that may be used: the chains as an immutable value, and a table of digests that all copies share.
///
/// The chains are a persistent tree: a changed copy shares all but a few nodes with the value before it, so that
/// publishing one admission among 100,000 versions costs microseconds and a snapshot costs a few retains.
package struct DictionaryIndex: Sendable {
    /// A chain with its versions, the oldest first.
    private struct Line {
        let chain: Chain
        var versions: [Version]
    }

    private let digests = DigestTable()
    private var lines = SharedTable<ChainKey, Line>()
    /// The chains that are or were named in Links, by what names them there.
    private var chainNames: TreeDictionary<String, ChainKey> = [:]
    private(set) var versionCount = 0
    /// The chains and the versions of private routes, which have a budget of their own.
    private(set) var privateChainCount = 0
    private(set) var privateBytes = 0

    /// How many chains of one authority that hold the same body a look-up by digest considers.
    private static let candidatesMax = 256

    var chainCount: Int { lines.count }
    /// What it takes in memory with the order of eviction, `Twins` and the rows: 0.86 KB a version, by the resident memory
    /// of a process that has opened a store of 100,000 and one of 20,000.
    var memoryBytes: Int { versionCount * 860 }

    init() {}

    // MARK: Look-ups

    /// A current version with this digest in a chain of the authority and the scope whose `match` fits the URL.
    func find(
        digest: Digest, authority: String, scope: ChainKey.Scope = .public, path: String, query: String?
    ) -> Version? {
        digests.first(digest: digest, authority: authority, limit: Self.candidatesMax) { version in
            version.isCurrent && version.chain.scope == scope
                && version.home.covers(path: path, query: query)
        }
    }

    /// The newest version of a URL and variant; linear in the versions of the chain, as are the next ones.
    func newest(chain: ChainKey, url: String, variant: String) -> Version? {
        versions(of: chain).last { $0.variant == variant && $0.url == url }
    }

    /// The newest version of a URL and variant that had this entity tag.
    func version(chain: ChainKey, url: String, variant: String, etag: String) -> Version? {
        versions(of: chain).last { $0.etag == etag && $0.variant == variant && $0.url == url }
    }

    /// The version that a body makes when it returns.
    func version(chain: ChainKey, url: String, variant: String, digest: Digest) -> Version? {
        versions(of: chain).last { $0.digest == digest && $0.variant == variant && $0.url == url }
    }

    /// The newest version in the chain with this digest, whatever its URL.
    func version(chain: ChainKey, digest: Digest) -> Version? {
        versions(of: chain).last { $0.digest == digest }
    }

    /// The version that Links of this chain and variant name.
    func named(chain: ChainKey, variant: String, now: Int) -> Version? {
        versions(of: chain).last { $0.variant == variant && $0.isPinned(at: now) }
    }

    /// The version with a path of its own: it is in a public chain of the authority of which one is named now.
    func linked(_ path: DictionaryPath, authority: String, now: Int) -> Version? {
        guard let key = chainNames[path.chain], key.authority == authority, key.scope == .public else {
            return nil
        }
        let versions = versions(of: key)
        guard versions.contains(where: { $0.isPinned(at: now) }) else { return nil }
        let same = versions.filter { $0.digest == path.digest }
        return same.last { $0.isPinned(at: now) } ?? same.last
    }

    /// The versions of a chain, the oldest first.
    func versions(of key: ChainKey) -> [Version] {
        lines[key]?.versions ?? []
    }

    /// The chain with this name, as its versions share it.
    func chain(_ key: ChainKey) -> Chain? {
        lines[key]?.chain
    }

    /// Every version, in no order.
    func allVersions() -> [Version] {
        var all: [Version] = []
        all.reserveCapacity(versionCount)
        lines.forEach { _, line in all += line.versions }
        return all
    }

    /// Every chain with the versions in it, the oldest first.
    func allChains() -> [(key: ChainKey, versions: [Version])] {
        var all: [(key: ChainKey, versions: [Version])] = []
        all.reserveCapacity(lines.count)
        lines.forEach { key, line in all.append((key, line.versions)) }
        return all
    }

    // MARK: Changes

    /// Adds a version at the place in its chain that its rank gives it, which is nearly always the last.
    mutating func insert(_ version: Version) {
        if version.chain.scope != .public {
            privateBytes += version.privateBytes
            if lines[version.chain] == nil { privateChainCount += 1 }
        }
        var line = lines[version.chain] ?? Line(chain: version.home, versions: [])
        line.versions.insert(version, at: place(of: version))
        lines[version.chain] = line
        digests.insert(version)
        if version.pinnedUntil > 0 { addName(of: version) }
        versionCount += 1
    }

    /// Lets the chain of a version be found by its name.
    mutating func addName(of version: Version) {
        guard version.chain.scope == .public else { return }
        chainNames[version.chain.name] = version.chain
    }

    /// Removes exactly this object; false if it is not, or no longer, in the index.
    mutating func remove(_ version: Version) -> Bool {
        guard var line = lines[version.chain], let place = line.versions.firstIndex(where: { $0 === version })
        else { return false }
        line.versions.remove(at: place)
        lines[version.chain] = line.versions.isEmpty ? nil : line
        // Only public chains are named, and a private one may be called as a public one is.
        if line.versions.isEmpty, version.chain.scope == .public, !chainNames.isEmpty {
            chainNames[version.chain.name] = nil
        }
        if version.chain.scope != .public {
            privateBytes -= version.privateBytes
            if line.versions.isEmpty { privateChainCount -= 1 }
        }
        digests.remove(version)
        versionCount -= 1
        return true
    }

    private func place(of version: Version) -> Int {
        let before = versions(of: version.chain).lastIndex {
            ($0.rank, $0.id) < (version.rank, version.id)
        }
        return before.map { $0 + 1 } ?? 0
    }
}
