internal import Synchronization

/// The facts of a version that change while it is here; its row, its record and its object have them alike.
///
/// `Version` says what each is, in properties of the same names. Times are seconds since 1970. There may be millions of
/// records, so that every number has 32 bits.
struct VersionState: Sendable, Equatable {
    var admittedAt: UInt32
    var lastWanted: UInt32
    /// The value of `lastWanted` on disk.
    var wantedOnDisk: UInt32
    var holders: UInt32 = 0
    var lastOffered: UInt32 = 0
    var lastContact: UInt32
    var flags: Flags = .isCurrent

    struct Flags: OptionSet, Sendable {
        let rawValue: UInt8
        static let isCurrent = Flags(rawValue: 1)
        static let hasReturned = Flags(rawValue: 2)
        static let isShared = Flags(rawValue: 4)
        static let isProvenPublic = Flags(rawValue: 8)
    }

    /// Makes the state of a version that is admitted at some second and was never offered.
    init(admittedAt second: Int) {
        admittedAt = Version.seconds(second)
        (lastWanted, wantedOnDisk, lastContact) = (admittedAt, admittedAt, admittedAt)
    }

    /// Takes over the holders that are counted elsewhere.
    mutating func hold(_ count: UInt32, hasReturned: Bool) {
        holders = count
        if hasReturned { flags.insert(.hasReturned) }
        if count > 1 { flags.insert(.isShared) }
    }
}

/// The state that few versions have; the index keeps it apart.
///
/// `Version` says what each number is, too; 0 stands for none.
struct RareState: Sendable, Equatable {
    var successor: Int64 = 0
    var handedOnAt: UInt32 = 0
    /// The length of the last delta over it.
    var deltaBytes: UInt32 = 0
    var firstDeltaBytes: UInt32 = 0
    var pinnedUntil: UInt32 = 0
    var sealedBytes: UInt32 = 0
    /// -1 without a place.
    var privatePlace: Int32 = -1
    /// Nil if the version was read from disk.
    var network: UInt16?
}

/// The state of a version in use: any thread may read it.
struct VersionCounters: ~Copyable, Sendable {
    let admittedAt: UInt32
    let lastWanted: Atomic<UInt32>
    let wantedOnDisk: Atomic<UInt32>
    let holders: Atomic<UInt32>
    let lastOffered: Atomic<UInt32>
    let lastContact: Atomic<UInt32>
    private let flags: Atomic<UInt8>

    let successor: Atomic<Int64>
    let handedOnAt: Atomic<UInt32>
    let deltaBytes: Atomic<UInt32>
    let firstDeltaBytes: Atomic<UInt32>
    let pinnedUntil: Atomic<UInt32>
    let sealedBytes: Atomic<UInt32>
    let privatePlace: Atomic<Int32>
    let network: UInt16?

    init(_ state: VersionState, _ rare: RareState) {
        admittedAt = state.admittedAt
        lastWanted = Atomic(state.lastWanted)
        wantedOnDisk = Atomic(state.wantedOnDisk)
        holders = Atomic(state.holders)
        lastOffered = Atomic(state.lastOffered)
        lastContact = Atomic(state.lastContact)
        flags = Atomic(state.flags.rawValue)
        successor = Atomic(rare.successor)
        handedOnAt = Atomic(rare.handedOnAt)
        deltaBytes = Atomic(rare.deltaBytes)
        firstDeltaBytes = Atomic(rare.firstDeltaBytes)
        pinnedUntil = Atomic(rare.pinnedUntil)
        sealedBytes = Atomic(rare.sealedBytes)
        privatePlace = Atomic(rare.privatePlace)
        network = rare.network
    }

    var state: VersionState {
        var state = VersionState(admittedAt: Int(admittedAt))
        state.lastWanted = lastWanted.load(ordering: .relaxed)
        state.wantedOnDisk = wantedOnDisk.load(ordering: .relaxed)
        state.holders = holders.load(ordering: .relaxed)
        state.lastOffered = lastOffered.load(ordering: .relaxed)
        state.lastContact = lastContact.load(ordering: .relaxed)
        state.flags = VersionState.Flags(rawValue: flags.load(ordering: .relaxed))
        return state
    }

    var rare: RareState {
        RareState(
            successor: successor.load(ordering: .relaxed), handedOnAt: handedOnAt.load(ordering: .relaxed),
            deltaBytes: deltaBytes.load(ordering: .relaxed),
            firstDeltaBytes: firstDeltaBytes.load(ordering: .relaxed),
            pinnedUntil: pinnedUntil.load(ordering: .relaxed),
            sealedBytes: sealedBytes.load(ordering: .relaxed),
            privatePlace: privatePlace.load(ordering: .relaxed), network: network)
    }

    subscript(flag: VersionState.Flags) -> Bool {
        get { flags.load(ordering: .relaxed) & flag.rawValue != 0 }
        nonmutating set {
            if newValue {
                flags.bitwiseOr(flag.rawValue, ordering: .relaxed)
            } else {
                flags.bitwiseAnd(~flag.rawValue, ordering: .relaxed)
            }
        }
    }
}
