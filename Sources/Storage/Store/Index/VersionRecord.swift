internal import Dictionaries

/// A version as the index keeps it while it is not in use: its look-up keys and its state.
///
/// Texts are hashed, see `VersionHashes`. Bodies are identified by the whole digest.
struct VersionRecord: Sendable {
    let digest: Digest
    let id: Int64
    let rank: Int64
    /// The hash of URL and variant, and that of the entity tag; see `VersionHashes`.
    let name: UInt64
    let tag: UInt64
    /// The places of its chain and of its shared traits.
    var chain: Int32
    var traits: Int32
    let bytes: UInt32
    /// The places of the next older and newer versions of the same URL and variant.
    var older: Int32 = -1
    var newer: Int32 = -1
    /// The place among the objects in use; -1 without an object.
    var inUse: Int32 = -1
    /// The state as of the last time without an object.
    var state: VersionState
    /// True if other versions have the same body.
    var hasSiblings = false
    let urlBytes: UInt16

    init(_ version: Version, chain: Int32, traits: Int32) {
        digest = version.digest
        id = version.id
        rank = version.rank
        name = version.hashes.name
        tag = version.hashes.tag
        self.chain = chain
        self.traits = traits
        bytes = UInt32(clamping: version.bytes)
        state = version.counters.state
        urlBytes = version.hashes.urlBytes
    }

    /// Returns an object for the version, whose URL and entity tag are on disk only.
    func object(_ rare: RareState, _ traits: VersionTraits, in chain: Chain, at place: Int32) -> Version {
        let version = Version(
            VersionFacts(digest: digest, url: "", etag: nil, bytes: Int(bytes), traits: traits), id: id,
            rank: rank, chain: chain, state, rare: rare,
            hashes: VersionHashes(name: name, tag: tag, url: 0, urlBytes: urlBytes))
        version.place = place
        return version
    }
}

/// The traits of all versions, each kept once.
struct SharedTraits: Sendable {
    private var places: [VersionTraits: Int32] = [:]
    private var all: [(traits: VersionTraits, count: Int)] = []
    private var free: [Int32] = []

    subscript(place: Int32) -> VersionTraits { all[Int(place)].traits }

    /// Returns the place of the traits, and counts one more version.
    mutating func take(_ traits: VersionTraits) -> Int32 {
        if let place = places[traits] {
            all[Int(place)].count += 1
            return place
        }
        let place = free.popLast() ?? Int32(all.count)
        if place == all.count { all.append((traits, 1)) } else { all[Int(place)] = (traits, 1) }
        places[traits] = place
        return place
    }

    mutating func give(_ place: Int32) {
        all[Int(place)].count -= 1
        guard all[Int(place)].count == 0 else { return }
        places[all[Int(place)].traits] = nil
        free.append(place)
    }
}
