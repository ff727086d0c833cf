internal import Synchronization

/// A chain as the versions in it share it: its name, with the pattern compiled once.
final class Chain: Sendable {
    let key: ChainKey
    private let pattern: URLPattern?
    private let versions = Atomic<Int>(.max)

    /// How many versions the last admission here kept; no bound before the first.
    var versionsMax: Int {
        get { versions.load(ordering: .relaxed) }
        set { versions.store(newValue, ordering: .relaxed) }
    }

    /// A `match` that is no pattern (a store edited by hand) makes a chain that covers nothing.
    init(_ key: ChainKey) {
        self.key = key
        pattern = try? URLPattern(key.match)
    }

    /// Whether a dictionary of this chain may be used for the URL (RFC 9842 section 2.2.2).
    func covers(path: String, query: String?) -> Bool {
        pattern?.matches(path: path, query: query) ?? false
    }
}
