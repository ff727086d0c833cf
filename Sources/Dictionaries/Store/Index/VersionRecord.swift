/// A version as the index has it while nobody uses it: what a look-up needs, and what is known of it.
///
/// Texts are hashed with a key of this process; what is served is compared by its digest, which is here whole.
struct VersionRecord: Sendable {
    let digest: Digest
    let id: Int64
    let rank: Int64
    /// What the URL and the variant hash to, and the entity tag; see `TextHash`.
    let name: UInt64
    let tag: UInt64
    /// The place of its chain, and of what it has in common with others.
    var chain: Int32
    var traits: Int32
    let bytes: UInt32
    /// Seconds since 1970, like all times here.
    let admittedAt: UInt32
    var lastWanted: UInt32
    var wantedOnDisk: UInt32
    var holders: UInt32
    var lastOffered: UInt32
    var lastContact: UInt32
    /// The versions of the same URL and variant before and behind it, by age.
    var older: Int32 = -1
    var newer: Int32 = -1
    /// The place among the objects in use; -1 for a version that no object stands for.
    var inUse: Int32 = -1
    let urlBytes: UInt16
    var flags: Flags

    /// What is known of it, a bit each.
    struct Flags: OptionSet, Sendable {
        let rawValue: UInt8
        static let isCurrent = Flags(rawValue: 1)
        static let isProven = Flags(rawValue: 2)
        static let isShared = Flags(rawValue: 4)
        /// Other versions have its body.
        static let hasTwins = Flags(rawValue: 8)
    }

    /// What few versions have: it is kept apart.
    struct Rest: Sendable {
        var successor: Int64
        var handedOnAt: UInt32
        var deltaBytes: UInt32
        var firstDeltaBytes: UInt32
        /// Of private versions alone.
        var sealedBytes: UInt32 = 0
        var privatePlace: Int32 = -1
        var network: UInt16 = 0

        var isEmpty: Bool {
            successor == 0 && handedOnAt == 0 && deltaBytes == 0 && firstDeltaBytes == 0 && sealedBytes == 0
                && privatePlace < 0
        }
    }
}

/// What the versions of many responses have in common.
struct VersionTraits: Sendable, Hashable {
    let variant: String
    let contentType: String?
    let maxAge: Int
    let isUpstreamMatch: Bool
}

/// Texts as 64 bits, by SipHash with a key of this process: nobody can choose two that are alike.
enum TextHash {
    /// The hash of what names a resource in its chain.
    static func name(url: String, variant: String) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(url)
        hasher.combine(variant)
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }

    /// The hash of an entity tag; 0 for none.
    static func tag(_ etag: String?) -> UInt64 {
        guard let etag else { return 0 }
        return UInt64(truncatingIfNeeded: etag.hashValue) | 1
    }

    static func url(_ url: String) -> UInt64 { UInt64(truncatingIfNeeded: url.hashValue) }
}
