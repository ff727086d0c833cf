/// The parameters of a store, from the `store` settings.
package struct StoreConfiguration: Sendable {
    /// The database file, or `:memory:`.
    package var path: String
    /// The upper bound of database, log and log index on disk.
    package var maxBytes: Int
    package var maxChains = 100_000
    /// The upper bound of bodies and copies in memory.
    package var memoryBytes = 256 << 20
    package var privateRows = PrivateRows.untouched
    /// The share of `maxBytes` for private versions.
    package var privateBytesMax: Int
    /// The average rate of bytes that admissions write.
    package var writeBytesPerSecond = 16 << 20
    /// The seconds between two attempts to write to a failing disk.
    package var retrySeconds = 5.0
    /// Returns true if a present route would make the version; other versions are kept, but not used.
    package var isCurrent: @Sendable (Version) -> Bool = { _ in true }
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

    package init(
        path: String, maxBytes: Int = 1 << 30, log: @escaping @Sendable (OperatorEvent) -> Void = { _ in }
    ) {
        self.path = path
        self.maxBytes = maxBytes
        privateBytesMax = maxBytes / 4
        self.log = log
    }
}
