/// A table as an immutable value: a changed copy shares all but a few nodes with the one before it.
///
/// A tree by the bits of the keys' hashes, two at each step. A change copies the nodes on the way to its place and
/// retains every other branch of them, which are rarely in a cache: so the nodes are as small as can be. With 32 branches
/// a node, as `TreeDictionary` has, an admission among 100,000 versions took 10 µs longer than among 10 for that alone.
struct SharedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private var root = Branch.empty
    private(set) var count = 0
    /// Another one in each process, so that nobody outside can make many the same.
    private let hash: @Sendable (Key) -> Int

    init(hash: @escaping @Sendable (Key) -> Int = { $0.hashValue }) {
        self.hash = hash
    }

    var isEmpty: Bool { count == 0 }

    subscript(key: Key) -> Value? {
        get { root.first(UInt(bitPattern: hash(key)), 0)?.entry(key)?.value }
        set {
            let hash = UInt(bitPattern: hash(key))
            let former = root.first(hash, 0)
            let isThere = former?.entry(key) != nil
            guard isThere || newValue != nil else { return }
            let others = isThere ? former?.removing(key) : former
            count += (newValue == nil ? 0 : 1) - (isThere ? 1 : 0)
            root = root.replacing(hash, 0, by: newValue.map { Entry(hash, key, $0, next: others) } ?? others)
        }
    }

    /// Calls `body` with every element, in no order.
    func forEach(_ body: (Key, Value) -> Void) {
        root.forEach(body)
    }
}

extension SharedTable {
    /// One element, and those whose keys have the same hash.
    private final class Entry: Sendable {
        let hash: UInt
        let key: Key
        let value: Value
        let next: Entry?

        init(_ hash: UInt, _ key: Key, _ value: Value, next: Entry?) {
            self.hash = hash
            self.key = key
            self.value = value
            self.next = next
        }

        func entry(_ key: Key) -> Entry? {
            self.key == key ? self : next?.entry(key)
        }

        /// The list without the element of a key; nil if nothing is left.
        func removing(_ key: Key) -> Entry? {
            if self.key == key { return next }
            return Entry(hash, self.key, value, next: next?.removing(key))
        }
    }

    /// What stands at a place of the tree: two elements at least, or all that have one hash.
    private enum Branch: Sendable {
        case empty
        case entry(Entry)
        case node(Node)

        /// The elements with a hash, of which `shift` bits have led here.
        func first(_ hash: UInt, _ shift: UInt) -> Entry? {
            switch self {
            case .empty: nil
            case .entry(let entry): entry.hash == hash ? entry : nil
            case .node(let node): node.first(hash, shift)
            }
        }

        /// The branch with other elements of a hash, or without any.
        func replacing(_ hash: UInt, _ shift: UInt, by entry: Entry?) -> Branch {
            switch self {
            case .node(let node):
                return node.replacing(hash, shift, by: entry)
            case .entry(let other) where other.hash != hash:
                guard let entry else { return self }
                // They part here or further down: the bits of two hashes are not all the same.
                let node = Node(place: other.hash >> shift, self)
                return node.replacing(hash, shift, by: entry)
            case .empty, .entry:
                return entry.map { .entry($0) } ?? .empty
            }
        }

        func forEach(_ body: (Key, Value) -> Void) {
            switch self {
            case .empty: break
            case .entry(let first):
                var entry: Entry? = first
                while let here = entry {
                    body(here.key, here.value)
                    entry = here.next
                }
            case .node(let node):
                for branch in [node.zero, node.one, node.two, node.three] { branch.forEach(body) }
            }
        }

        /// What can stand for a node that has nothing else.
        var ifAlone: Branch? {
            if case .node = self { nil } else { self }
        }

        var isEmpty: Bool {
            if case .empty = self { true } else { false }
        }
    }

    private final class Node: Sendable {
        let zero: Branch
        let one: Branch
        let two: Branch
        let three: Branch

        init(_ zero: Branch, _ one: Branch, _ two: Branch, _ three: Branch) {
            (self.zero, self.one, self.two, self.three) = (zero, one, two, three)
        }

        /// One that has a single branch.
        convenience init(place: UInt, _ branch: Branch) {
            switch place & 3 {
            case 0: self.init(branch, .empty, .empty, .empty)
            case 1: self.init(.empty, branch, .empty, .empty)
            case 2: self.init(.empty, .empty, branch, .empty)
            default: self.init(.empty, .empty, .empty, branch)
            }
        }

        func first(_ hash: UInt, _ shift: UInt) -> Entry? {
            switch hash >> shift & 3 {
            case 0: zero.first(hash, shift + 2)
            case 1: one.first(hash, shift + 2)
            case 2: two.first(hash, shift + 2)
            default: three.first(hash, shift + 2)
            }
        }

        func replacing(_ hash: UInt, _ shift: UInt, by entry: Entry?) -> Branch {
            switch hash >> shift & 3 {
            case 0: Self.branch(zero.replacing(hash, shift + 2, by: entry), one, two, three)
            case 1: Self.branch(zero, one.replacing(hash, shift + 2, by: entry), two, three)
            case 2: Self.branch(zero, one, two.replacing(hash, shift + 2, by: entry), three)
            default: Self.branch(zero, one, two, three.replacing(hash, shift + 2, by: entry))
            }
        }

        /// A node, or what is in it where that is one thing.
        private static func branch(_ zero: Branch, _ one: Branch, _ two: Branch, _ three: Branch) -> Branch {
            let alone: Branch? =
                switch (zero.isEmpty, one.isEmpty, two.isEmpty, three.isEmpty) {
                case (_, true, true, true): zero.ifAlone
                case (true, _, true, true): one.ifAlone
                case (true, true, _, true): two.ifAlone
                case (true, true, true, _): three.ifAlone
                default: nil
                }
            return alone ?? .node(Node(zero, one, two, three))
        }
    }
}
