internal import Dictionaries

/// The facts that a response states about the version it makes.
struct VersionFacts: Sendable, Equatable {
    /// The digest of the body.
    ///
    /// In a private chain, this, the URL, the variant and the entity tag are names made by `StoreKeys`.
    var digest: Digest
    /// The path and query as requested.
    var url: String
    /// The opaque-tag of the response's entity tag.
    var etag: String?
    /// The length of the body.
    let bytes: Int
    var traits: VersionTraits

    func key(in chain: ChainKey) -> VersionKey { VersionKey(chain: chain, url: url, variant: traits.variant) }
}

/// The facts that many versions share.
struct VersionTraits: Sendable, Hashable {
    /// The request fields that the response varied on, as `VariantKey` writes them.
    var variant: String
    let contentType: String?
    /// The seconds that the version is kept after it was last wanted.
    let maxAge: Int
    /// True if the upstream's own Use-As-Dictionary named the chain, and not the route.
    var isUpstreamMatch = false
}

/// The hashes by which the index finds a version without its texts.
///
/// They are 64 bits of SipHash with a random key of this process, so that no client can choose a collision.
struct VersionHashes: Sendable {
    /// The hash of URL and variant.
    let name: UInt64
    /// The hash of the entity tag; 0 for none.
    let tag: UInt64
    /// The hash of the URL alone; 0 while the URL is unknown.
    let url: UInt64
    let urlBytes: UInt16
}

extension VersionHashes {
    init(_ facts: VersionFacts) {
        name = Self.name(url: facts.url, variant: facts.traits.variant)
        tag = Self.tag(facts.etag)
        url = Self.url(facts.url)
        urlBytes = UInt16(clamping: facts.url.utf8.count)
    }

    static func name(url: String, variant: String) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(url)
        hasher.combine(variant)
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }

    static func tag(_ etag: String?) -> UInt64 {
        guard let etag else { return 0 }
        return UInt64(truncatingIfNeeded: etag.hashValue) | 1
    }

    static func url(_ url: String) -> UInt64 { UInt64(truncatingIfNeeded: url.hashValue) }
}

extension Version {
    /// True if the head may be replaced without making another version.
    package func canKeep(_ head: [UInt8]?) -> Bool { head == nil || self.head != nil }

    /// True if a response with these facts would make no other version.
    func says(_ facts: VersionFacts) -> Bool {
        let hashes = VersionHashes(facts)
        return digest == facts.digest && bytes == facts.bytes && traits == facts.traits
            && self.hashes.name == hashes.name && self.hashes.tag == hashes.tag
    }

    package func isFrom(_ url: String) -> Bool {
        hashes.name == VersionHashes.name(url: url, variant: variant)
    }

    /// True if it is a dictionary that was learned from the responses of many paths (`VersionKey.init(learnedFor:)`).
    package var isLearned: Bool {
        // Most chains are for one path, and cost no hash.
        chainKey.match.utf8.contains(UInt8(ascii: "*")) && !isUpstreamMatch
            && isFrom(VersionKey.learnedURL(of: chainKey))
    }

    func had(etag: String?) -> Bool { hashes.tag == VersionHashes.tag(etag) }
}
