/// What a store needs to know to open; the contract's `store` settings.
package struct StoreConfiguration: Sendable {
    /// The database file, or `:memory:`.
    package var path: String
    /// The most that database, log and the index over it take on disk together.
    package var maxBytes: Int
    package var maxChains: Int
    /// The most that hot bodies and copies being admitted take in memory.
    package var memoryBytes: Int
    /// What becomes of the versions of private routes.
    package var privateRows: PrivateRows
    /// The most that they take of `maxBytes`.
    package var privateBytesMax: Int
    /// The most that admissions write in a second, on average.
    package var writeBytesPerSecond: Int
    /// Seconds between two attempts on a disk that takes nothing.
    package var retrySeconds: Double
    /// Whether a route of today would make the version; one that none would is kept, but not used.
    package var isCurrent: @Sendable (Version) -> Bool
    /// The objects of versions that are kept although nobody uses them.
    var versionsInUseMax = DictionaryIndex.inUseDefault
    /// Is told what an operator should know; on any thread, and must not call the store.
    package var log: @Sendable (StoreEvent) -> Void

    /// What becomes of the versions of private routes.
    package enum PrivateRows: Sendable {
        /// They are not read, and stay on disk: for whoever only looks at a store.
        case untouched
        /// They leave the disk: no route makes such versions.
        case removed
        /// They are used with these keys; what was made with another leaves the disk.
        case used(StoreKeys)
    }

    /// The keys of private routes, where there are any.
    package var keys: StoreKeys? {
        if case .used(let keys) = privateRows { keys } else { nil }
    }

    /// Describes a store; the defaults are the contract's.
    package init(
        path: String, maxBytes: Int = 1 << 30, maxChains: Int = 100_000, memoryBytes: Int = 256 << 20,
        writeBytesPerSecond: Int = 16 << 20, privateRows: PrivateRows = .untouched,
        privateBytesMax: Int? = nil, retrySeconds: Double = 5,
        isCurrent: @escaping @Sendable (Version) -> Bool = { _ in true },
        log: @escaping @Sendable (StoreEvent) -> Void = { _ in }
    ) {
        self.path = path
        self.maxBytes = maxBytes
        self.maxChains = maxChains
        self.memoryBytes = memoryBytes
        self.privateRows = privateRows
        self.privateBytesMax = min(privateBytesMax ?? maxBytes / 4, maxBytes)
        self.writeBytesPerSecond = writeBytesPerSecond
        self.retrySeconds = retrySeconds
        self.isCurrent = isCurrent
        self.log = log
    }
}
