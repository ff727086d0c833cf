/// The parameters of a store, from the `store` settings.
package struct StoreConfiguration: Sendable {
    /// The database file, or `:memory:`.
    package var path: String
    /// The upper bound of database, log and log index on disk.
    package var maxBytes: Int
    package var maxChains: Int
    /// The upper bound of bodies and copies in memory.
    package var memoryBytes: Int
    /// The treatment of private versions.
    package var privateRows: PrivateRows
    /// The share of `maxBytes` for private versions.
    package var privateBytesMax: Int
    /// The average rate of bytes that admissions write.
    package var writeBytesPerSecond: Int
    /// The seconds between two attempts to write to a failing disk.
    package var retrySeconds: Double
    /// Returns true if a present route would make the version; other versions are kept, but not used.
    package var isCurrent: @Sendable (Version) -> Bool
    /// The number of unused version objects that are kept.
    var versionsInUseMax = DictionaryIndex.inUseDefault
    /// Receives events for the operator, on any thread; must not call the store.
    package var log: @Sendable (OperatorEvent) -> Void

    /// The treatment of private versions on disk.
    package enum PrivateRows: Sendable {
        /// They are not read and stay on disk, for commands that only inspect a store.
        case untouched
        /// They are removed from disk, because no route makes any.
        case removed
        /// They are used with these keys; versions made with another key are removed from disk.
        case used(StoreKeys)
    }

    package var keys: StoreKeys? {
        if case .used(let keys) = privateRows { keys } else { nil }
    }

    /// Makes a configuration with the documented defaults.
    package init(
        path: String, maxBytes: Int = 1 << 30, maxChains: Int = 100_000, memoryBytes: Int = 256 << 20,
        writeBytesPerSecond: Int = 16 << 20, privateRows: PrivateRows = .untouched,
        privateBytesMax: Int? = nil, retrySeconds: Double = 5,
        isCurrent: @escaping @Sendable (Version) -> Bool = { _ in true },
        log: @escaping @Sendable (OperatorEvent) -> Void = { _ in }
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
