internal import HashTreeCollections

/// A table as an immutable value: a changed copy shares all but a few nodes with the one before it.
///
/// A change copies some nodes of up to 32 elements and retains every reference in them; so an element is one word and
/// one reference here, whatever key and value are. With the keys in the nodes an admission among 100,000 versions
/// spent twice the time on it.
struct SharedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// One element, and those whose keys have the same hash.
    private final class Entry: Sendable {
        let key: Key
        let value: Value
        let next: Entry?

        init(_ key: Key, _ value: Value, next: Entry?) {
            (self.key, self.value, self.next) = (key, value, next)
        }

        /// The list without the element of a key; nil if nothing is left.
        func removing(_ key: Key) -> Entry? {
            if self.key == key { return next }
            return Entry(self.key, value, next: next?.removing(key))
        }
    }

    /// By the hash of the key, which is another one in each process, so that nobody outside can make many the same.
    private var entries: TreeDictionary<Int, Entry> = [:]
    private(set) var count = 0
    private let hash: @Sendable (Key) -> Int

    init(hash: @escaping @Sendable (Key) -> Int = { $0.hashValue }) {
        self.hash = hash
    }

    var isEmpty: Bool { count == 0 }

    subscript(key: Key) -> Value? {
        get { entry(key)?.value }
        set {
            let hash = hash(key)
            let former = entries[hash]
            let isThere = entry(key) != nil
            let others = isThere ? former?.removing(key) : former
            count += (newValue == nil ? 0 : 1) - (isThere ? 1 : 0)
            entries[hash] = newValue.map { Entry(key, $0, next: others) } ?? others
        }
    }

    /// Calls `body` with every element, in no order.
    func forEach(_ body: (Key, Value) -> Void) {
        for (_, first) in entries {
            var entry: Entry? = first
            while let here = entry {
                body(here.key, here.value)
                entry = here.next
            }
        }
    }

    private func entry(_ key: Key) -> Entry? {
        var entry = entries[hash(key)]
        while let here = entry, here.key != key { entry = here.next }
        return entry
    }
}
