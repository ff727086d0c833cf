internal import Synchronization

extension DictionaryStore {
    /// The longest life of a pin; a row that claims more is invalid.
    package static let pinSecondsMax = 366 * 86_400

    /// The upper bound of pinned bodies and rows: half of the store, so that new versions always have room.
    var pinnedBytesMax: Int { configuration.maxBytes / 2 }
    private var pinnedCountMax: Int { max(1, configuration.maxChains / 2) }

    /// Names a version of a public chain in Links until some second; until then only damage or full memory
    /// evicts it.
    ///
    /// `former` is the version of the chain and variant that is named now. It keeps its own end, or gets a
    /// later one if it is the same version. Returns false, without a change, if another version is named, if
    /// the pins' limits are reached, or if the version is gone.
    package func name(_ version: Version, replacing former: Version? = nil, until: Int, now: Int) -> Bool {
        let until = min(until, now + Self.pinSecondsMax)
        noteTime(now)
        let isNamed = state.withLock { state in
            state.name(
                version, replacing: former, until: until, now: now,
                limits: (bytes: pinnedBytesMax, count: pinnedCountMax))
        }
        if isNamed { scheduleDrain() }
        return isNamed
    }

    /// The bytes of all pinned bodies and rows.
    var pinnedBytes: Int { state.withLock { $0.pins.bytes } }

    /// Releases pins that exceed the limits of this store.
    func keepPinsBounded() {
        state.withLock { $0.limitPins(bytesMax: pinnedBytesMax, countMax: pinnedCountMax) }
    }

    /// True if a version must stay, by the latest second that the store was told.
    func isPinned(_ version: Version) -> Bool {
        version.isPinned(at: latestSecond.load(ordering: .relaxed))
    }

    /// Records the time for decisions that are made without a clock.
    func noteTime(_ now: Int) {
        latestSecond.max(now, ordering: .relaxed)
    }
}
