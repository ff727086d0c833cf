/// A chain with its versions.
///
/// Look-ups cost the same however many versions it has. Used under the lock of its stripe, where it is never copied.
struct ChainVersions: Sendable {
    private struct Resource: Hashable {
        let url: String
        let variant: String
    }

    /// How many versions of one URL and variant a look-up by entity tag considers: an upstream confirms what it has.
    private static let taggedMax = 64

    let chain: Chain
    /// What its versions take on disk, at most.
    private(set) var storedBytes = 0
    private(set) var count = 0
    /// Those that Links name, or named.
    private var pinned: [Version] = []
    /// Those of each URL and variant, the oldest first.
    private var resources: [Resource: [Version]] = [:]
    private var bodies: [Digest: [Version]] = [:]
    /// A few of the newest, the oldest first.
    private(set) var recent: [Version] = []
    private static let recentMax = 16
    /// By their URLs those that have a head to ask the upstream about.
    private var withHeads: [String: [Version]] = [:]

    init(chain: Chain) { self.chain = chain }

    var isEmpty: Bool { count == 0 }

    /// All of them, the oldest first; linear.
    var all: [Version] { resources.values.flatMap(\.self).sorted { $0.isOlder(than: $1) } }

    /// All of them in no order; linear.
    func forEach(_ body: (Version) -> Void) {
        for versions in resources.values { versions.forEach(body) }
    }

    /// The newest version of a URL and variant.
    func newest(url: String, variant: String) -> Version? {
        resources[Resource(url: url, variant: variant)]?.last
    }

    /// The newest version of a URL and variant that had this entity tag.
    func version(url: String, variant: String, etag: String) -> Version? {
        resources[Resource(url: url, variant: variant)]?.suffix(Self.taggedMax).last { $0.etag == etag }
    }

    /// The version that a body makes when it returns.
    func version(url: String, variant: String, digest: Digest) -> Version? {
        bodies[digest]?.last { $0.variant == variant && $0.url == url }
    }

    /// The newest version with this digest, whatever its URL.
    func version(digest: Digest) -> Version? { bodies[digest]?.last }

    /// The versions with this digest, the oldest first.
    func versions(digest: Digest) -> [Version] { bodies[digest] ?? [] }

    /// The newest version of a URL with a head, of those that are asked for.
    func newestWithHead(url: String, where isFit: (Version) -> Bool) -> Version? {
        withHeads[url]?.last { $0.head?.bytes != nil && isFit($0) }
    }

    /// The version that Links of this variant name: the newest of those that are named.
    func named(variant: String, now: Int) -> Version? {
        pinned.last { $0.variant == variant && $0.isPinned(at: now) }
    }

    /// The versions that Links name or named of late.
    func named(now: Int) -> [Version] { pinned.filter { $0.isPinned(at: now) } }

    /// How many of them are named in Links now.
    func namedCount(now: Int) -> Int { pinned.count { $0.isPinned(at: now) } }

    /// Whether any of them is named in a Link now.
    func isNamed(now: Int) -> Bool { pinned.contains { $0.isPinned(at: now) } }

    /// Adds a version at the place that its rank gives it, which is nearly always the last.
    mutating func insert(_ version: Version) {
        let resource = Resource(url: version.url, variant: version.variant)
        Self.insert(version, into: &resources[resource, default: []])
        Self.insert(version, into: &bodies[version.digest, default: []])
        if version.head != nil { Self.insert(version, into: &withHeads[version.url, default: []]) }
        if version.pinnedUntil > 0 { pin(version) }
        Self.insert(version, into: &recent)
        if recent.count > Self.recentMax { recent.removeFirst() }
        count += 1
        storedBytes += version.storedBytes
    }

    /// Removes exactly this object; false if it is not here.
    mutating func remove(_ version: Version) -> Bool {
        let resource = Resource(url: version.url, variant: version.variant)
        guard Self.remove(version, from: &resources[resource]) else { return false }
        _ = Self.remove(version, from: &bodies[version.digest])
        if version.head != nil { _ = Self.remove(version, from: &withHeads[version.url]) }
        unpin(version)
        recent.removeAll { $0 === version }
        count -= 1
        storedBytes -= version.storedBytes
        return true
    }

    /// Notes a version that Links name.
    mutating func pin(_ version: Version) {
        unpin(version)
        pinned.append(version)
        pinned.sort { $0.isOlder(than: $1) }
    }

    /// Notes that Links name a version no longer.
    mutating func unpin(_ version: Version) {
        if !pinned.isEmpty { pinned.removeAll { $0 === version } }
    }

    /// When the last Link ends that names one of them.
    var pinnedUntil: Int { pinned.reduce(0) { max($0, $1.pinnedUntil) } }

    private static func insert(_ version: Version, into versions: inout [Version]) {
        let place =
            versions.last.map { $0.isOlder(than: version) } ?? true
            ? versions.count : place(of: version, in: versions)
        versions.insert(version, at: place)
    }

    private static func remove(_ version: Version, from versions: inout [Version]?) -> Bool {
        guard var changed = versions.take() else { return false }
        var place = place(of: version, in: changed)
        // A version and the one that replaces it may be of one rank for a moment.
        while place < changed.count, changed[place] !== version, !version.isOlder(than: changed[place]) {
            place += 1
        }
        let isHere = place < changed.count && changed[place] === version
        if isHere { changed.remove(at: place) }
        versions = changed.isEmpty ? nil : changed
        return isHere
    }

    /// The first place whose version is not older.
    private static func place(of version: Version, in versions: [Version]) -> Int {
        var (low, high) = (0, versions.count)
        while low < high {
            let middle = (low + high) / 2
            if versions[middle].isOlder(than: version) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
