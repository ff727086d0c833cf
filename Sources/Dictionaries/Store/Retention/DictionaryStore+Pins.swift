internal import Synchronization

extension DictionaryStore {
    /// The longest life that a pin may have; a row that says more is nonsense.
    package static let pinSecondsMax = 366 * 86_400

    /// Pinned bodies and rows take at most half of the store, so that there is always room for what is new.
    var pinnedBytesMax: Int { configuration.maxBytes / 2 }
    private var pinnedCountMax: Int { max(1, configuration.maxChains / 2) }

    /// Names a version of a public chain in Links until some second: until then nothing but damage or a full memory evicts it.
    ///
    /// `former` is the version of the chain and variant that is named now. It keeps its own time, or gets more if it is the
    /// same. False, and nothing changed, if another one is named, if pins take what they may, or if the version is gone.
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

    /// What pins take now, in bytes.
    var pinnedBytes: Int { state.withLock { $0.pins.bytes } }

    /// Lets go of pins that a store of this size cannot have.
    func keepPinsBounded() {
        state.withLock { $0.limitPins(bytesMax: pinnedBytesMax, countMax: pinnedCountMax) }
    }

    /// Whether a version must stay; by the latest second that the store was told.
    func isPinned(_ version: Version) -> Bool {
        version.isPinned(at: latestSecond.load(ordering: .relaxed))
    }

    /// Notes the time, for decisions that are made where no clock is.
    func noteTime(_ now: Int) {
        latestSecond.max(now, ordering: .relaxed)
    }
}
