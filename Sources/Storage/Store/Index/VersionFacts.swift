internal import Dictionaries

/// The facts that a response states about the version it makes.
struct VersionFacts: Sendable, Equatable {
    let digest: Digest
    var url: String
    let variant: String
    var etag: String?
    let contentType: String?
    let bytes: Int
    let maxAge: Int
    var isUpstreamMatch = false

    func key(in chain: ChainKey) -> VersionKey { VersionKey(chain: chain, url: url, variant: variant) }
}

extension Version {
    /// True if the head may be replaced without making another version.
    package func canKeep(_ head: [UInt8]?) -> Bool { head == nil || self.head != nil }

    /// The facts of the response that made the version; some are missing if its texts are on disk only.
    var facts: VersionFacts {
        VersionFacts(
            digest: digest, url: url, variant: variant, etag: etag, contentType: contentType, bytes: bytes,
            maxAge: maxAge, isUpstreamMatch: isUpstreamMatch)
    }

    /// Returns the same version with the URL and the entity tag that its row says.
    func with(url: String, etag: String?) -> Version {
        var facts = facts
        (facts.url, facts.etag) = (url, etag)
        let version = Version(facts, id: id, rank: rank, chain: chain, state)
        version.place = place
        return version
    }

    /// True if a response with these facts would make no other version.
    func says(_ facts: VersionFacts) -> Bool {
        digest == facts.digest && tag == TextHash.tag(facts.etag) && contentType == facts.contentType
            && bytes == facts.bytes && maxAge == facts.maxAge && isUpstreamMatch == facts.isUpstreamMatch
            && name == TextHash.name(url: facts.url, variant: facts.variant)
    }

    package func isFrom(_ url: String) -> Bool { name == TextHash.name(url: url, variant: variant) }

    /// True if it is a dictionary that was learned from the responses of many paths (`VersionKey.init(learnedFor:)`).
    package var isLearned: Bool {
        // Most chains are for one path, and cost no hash.
        chainKey.match.utf8.contains(UInt8(ascii: "*")) && !isUpstreamMatch
            && isFrom(VersionKey.learnedURL(of: chainKey))
    }

    func had(etag: String?) -> Bool { tag == TextHash.tag(etag) }
}

/// Hashes of texts: 64 bits of SipHash with a random key of this process, so that no client can choose a
/// collision.
enum TextHash {
    static func name(url: String, variant: String) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(url)
        hasher.combine(variant)
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }

    /// Returns the hash of an entity tag; 0 for none.
    static func tag(_ etag: String?) -> UInt64 {
        guard let etag else { return 0 }
        return UInt64(truncatingIfNeeded: etag.hashValue) | 1
    }

    static func url(_ url: String) -> UInt64 { UInt64(truncatingIfNeeded: url.hashValue) }
}
