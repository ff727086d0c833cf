internal import Dictionaries
internal import Synchronization

/// A version as the index keeps it while it is not in use: its look-up keys and its state.
///
/// Texts are hashed with a random key of this process. Bodies are identified by the whole digest.
struct VersionRecord: Sendable {
    let digest: Digest
    let id: Int64
    let rank: Int64
    /// The hash of URL and variant, and that of the entity tag; see `TextHash`.
    let name: UInt64
    let tag: UInt64
    /// The places of its chain and of its shared traits.
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
    /// The places of the next older and newer versions of the same URL and variant.
    var older: Int32 = -1
    var newer: Int32 = -1
    /// The place among the objects in use; -1 without an object.
    var inUse: Int32 = -1
    let urlBytes: UInt16
    var flags: Flags

    /// The state of a version, a bit each.
    struct Flags: OptionSet, Sendable {
        let rawValue: UInt8
        static let isCurrent = Flags(rawValue: 1)
        static let hasReturned = Flags(rawValue: 2)
        static let isShared = Flags(rawValue: 4)
        static let hasSiblings = Flags(rawValue: 8)
        static let isProvenPublic = Flags(rawValue: 16)
    }

    /// The state that few versions have; it is kept apart.
    struct Rest: Sendable {
        var successor: Int64
        var handedOnAt: UInt32
        var deltaBytes: UInt32
        var firstDeltaBytes: UInt32
        /// The state of private versions.
        var sealedBytes: UInt32 = 0
        var privatePlace: Int32 = -1
        var network: UInt16 = 0

        var isEmpty: Bool {
            successor == 0 && handedOnAt == 0 && deltaBytes == 0 && firstDeltaBytes == 0 && sealedBytes == 0
                && privatePlace < 0
        }
    }
}

struct VersionTraits: Sendable, Hashable {
    let variant: String
    let contentType: String?
    let maxAge: Int
    let isUpstreamMatch: Bool
}

extension Version {
    func write(to record: inout VersionRecord) {
        record.lastWanted = Self.seconds(lastWanted)
        record.wantedOnDisk = Self.seconds(wantedOnDisk.load(ordering: .relaxed))
        record.holders = holderCount.load(ordering: .relaxed)
        record.lastOffered = offeredAt.load(ordering: .relaxed)
        record.lastContact = contactAt.load(ordering: .relaxed)
        record.flags.formIntersection(.hasSiblings)
        if isCurrent { record.flags.insert(.isCurrent) }
        if hasReturned { record.flags.insert(.hasReturned) }
        if isShared { record.flags.insert(.isShared) }
        if isProvenPublic { record.flags.insert(.isProvenPublic) }
    }

    /// The rare state of a version; nil if it has none.
    var rest: VersionRecord.Rest? {
        let rest = VersionRecord.Rest(
            successor: successor, handedOnAt: handedOn.load(ordering: .relaxed),
            deltaBytes: deltaLength.load(ordering: .relaxed),
            firstDeltaBytes: firstDeltaLength.load(ordering: .relaxed),
            sealedBytes: sealedLength.load(ordering: .relaxed), privatePlace: privatePlace, network: network)
        return rest.isEmpty ? nil : rest
    }
}

extension VersionRecord {
    init(_ version: Version, chain: Int32, traits: Int32) {
        digest = version.digest
        id = version.id
        rank = version.rank
        name = version.name
        tag = version.tag
        self.chain = chain
        self.traits = traits
        bytes = UInt32(clamping: version.bytes)
        admittedAt = Version.seconds(version.admittedAt)
        urlBytes = version.urlBytes
        (lastWanted, wantedOnDisk, holders, lastOffered, lastContact) = (0, 0, 0, 0, 0)
        flags = []
        version.write(to: &self)
    }

}

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
