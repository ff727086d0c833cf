/// A chain with its versions, the oldest first; look-ups are linear in them, of which there are few.
struct ChainVersions: Sendable {
    let chain: Chain
    private(set) var all: [Version] = []

    /// The newest of all.
    var newest: Version? { all.last }

    /// The newest version of a URL and variant.
    func newest(url: String, variant: String) -> Version? {
        all.last { $0.variant == variant && $0.url == url }
    }

    /// The newest version of a URL and variant that had this entity tag.
    func version(url: String, variant: String, etag: String) -> Version? {
        all.last { $0.etag == etag && $0.variant == variant && $0.url == url }
    }

    /// The version that a body makes when it returns.
    func version(url: String, variant: String, digest: Digest) -> Version? {
        all.last { $0.digest == digest && $0.variant == variant && $0.url == url }
    }

    /// The newest version with this digest, whatever its URL.
    func version(digest: Digest) -> Version? {
        all.last { $0.digest == digest }
    }

    /// The version that Links of this variant name.
    func named(variant: String, now: Int) -> Version? {
        all.last { $0.variant == variant && $0.isPinned(at: now) }
    }

    /// Whether any of them is named in a Link now.
    func isNamed(now: Int) -> Bool { all.contains { $0.isPinned(at: now) } }

    /// When the last of them was wanted, or a Link that names one ends.
    var wantedUntil: Int { all.reduce(0) { max($0, $1.wantedUntil) } }

    /// The class of a version as things stand; nil if it is not here.
    func evictionClass(of version: Version) -> EvictionClass? {
        guard all.contains(where: { $0 === version }) else { return nil }
        return !version.home.isEstablished ? .probation : newest === version ? .newest : .past
    }

    /// Adds a version at the place that its rank gives it, which is nearly always the last.
    mutating func insert(_ version: Version) {
        all.insert(version, at: all.lastIndex { $0.isOlder(than: version) }.map { $0 + 1 } ?? 0)
    }

    /// Removes exactly this object; false if it is not here.
    mutating func remove(_ version: Version) -> Bool {
        guard let place = all.firstIndex(where: { $0 === version }) else { return false }
        all.remove(at: place)
        return true
    }
}
