package import Dictionaries
internal import Synchronization

/// One response body of a URL, as a chain keeps it; the bytes themselves are a `Body`.
///
/// The facts of the response never change: a body that returns makes a new object with the same `id`. Its state, its
/// place and the bytes of the head change.
package final class Version: Sendable {
    /// The row in the store.
    package let id: Int64
    /// The order in its chain: the newest has the highest rank, and a body that returns gets a new one.
    let rank: Int64
    let chain: Chain
    /// The facts of the response that made it; URL and entity tag are missing if they are on disk only.
    let facts: VersionFacts
    let hashes: VersionHashes
    /// True if its URL and entity tag are on disk only.
    let isFromRecord: Bool
    /// The response head, if the upstream can be asked to revalidate.
    package let head: StoredHead?
    /// The promised ids that its row had; from then on the index has them.
    let rowPromises: PromisedIDs
    /// The holder counts and the proof that it is public change only under the lock of the store's state.
    let counters: VersionCounters
    private let indexed = Atomic<Int32>(-1)

    /// Makes the object of a version.
    ///
    /// - Parameter hashes: Those of its record, if its texts are on disk only.
    init(
        _ facts: VersionFacts, id: Int64, rank: Int64, chain: Chain, _ state: VersionState,
        rare: RareState = RareState(), head: StoredHead? = nil, promises: PromisedIDs = PromisedIDs(),
        hashes: VersionHashes? = nil
    ) {
        self.id = id
        self.rank = rank
        self.chain = chain
        self.facts = facts
        self.hashes = hashes ?? VersionHashes(facts)
        isFromRecord = hashes != nil
        self.head = head
        rowPromises = promises
        counters = VersionCounters(state, rare)
        if !isFromRecord { chain.keepURL(facts.url) }
    }

    /// Returns the row for a new version of this rank.
    ///
    /// Rows grow with the ranks, so that versions admitted together are stored together. Random bits keep two
    /// processes on one store from choosing the same row in the same microsecond.
    static func row(_ rank: Int64) -> Int64 {
        let randomBits = 11
        return (rank << randomBits | .random(in: 0..<(1 << randomBits))) & .max
    }

    package var digest: Digest { facts.digest }
    package var bytes: Int { facts.bytes }
    /// The opaque-tag of the response's entity tag; nil if only its hash is in memory.
    package var etag: String? { facts.etag }
    var traits: VersionTraits { facts.traits }
    package var variant: String { traits.variant }
    package var contentType: String? { traits.contentType }
    package var maxAge: Int { traits.maxAge }
    package var isUpstreamMatch: Bool { traits.isUpstreamMatch }

    /// The path and query as requested; if they are on disk only, those of another version of its chain.
    ///
    /// A personal version has none: whoever was given its body holds it, whatever the request was.
    package var url: String {
        guard isFromRecord else { return facts.url }
        if case .personal = chainKey.scope { return "" }
        return chain.url ?? chain.key.match
    }
    var hasOwnURL: Bool { !isFromRecord || isFrom(url) }
    package var chainKey: ChainKey { chain.key }
    /// True while its chain is in probation: few such versions are ever wanted again.
    package var isInProbation: Bool { !chain.isEstablished }
    var key: VersionKey { VersionKey(chain: chainKey, url: url, variant: variant) }
    var bodyName: BodyName { BodyName(scope: chain.key.scope, digest: digest) }

    /// The place in the index; -1 before it has one.
    var place: Int32 {
        get { indexed.load(ordering: .relaxed) }
        set { indexed.store(newValue, ordering: .relaxed) }
    }
    /// 32 bits of the row, by which an order knows whether this version has a place in it, or another by now.
    var rowPart: UInt32 { UInt32(truncatingIfNeeded: id ^ (id >> 32)) }

    /// The bytes of a private version in its budget: the body on disk, and a kibibyte for rows and memory.
    var privateBytes: Int { (sealedBytes ?? bytes + SealedBytes.overheadBytes) + 1024 }
    /// The bytes on disk, estimated as if no other version had the body.
    package var storedBytes: Int {
        let names = chainKey.match.utf8.count + Int(hashes.urlBytes) + variant.utf8.count
        return StoredSize.bytes(body: bytes, names: names)
    }

    /// True if it precedes another version of its chain.
    package func isOlder(than other: Version) -> Bool { (rank, id) < (other.rank, other.id) }

    /// Returns the same version with the URL and the entity tag that its row says.
    func with(url: String, etag: String?) -> Version {
        var facts = facts
        (facts.url, facts.etag) = (url, etag)
        let version = Version(
            facts, id: id, rank: rank, chain: chain, counters.state, rare: counters.rare, head: head)
        version.place = place
        return version
    }
}
