/// Values by key, of which those used lately stay; bounded, and every operation is O(1).
///
/// There are two generations: if the younger is full, the older is dropped and the younger takes its place. So it keeps
/// at least half of `countMax` of the keys used last, and one in each generation whatever `countMax` is.
package struct FadingTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let countMax: Int
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]

    package init(countMax: Int) { self.countMax = countMax }

    package var count: Int { young.count + old.keys.count { young[$0] == nil } }

    /// Returns the value of a key, which stays for longer by that.
    package mutating func value(_ key: Key) -> Value? {
        if let value = young[key] { return value }
        guard let value = old[key] else { return nil }
        set(value, for: key)
        return value
    }

    package mutating func set(_ value: Value, for key: Key) {
        if young[key] == nil, young.count >= countMax / 2 { (old, young) = (young, [:]) }
        young[key] = value
    }

    /// Changes the value of a key, which stays for longer by that.
    package mutating func update<Result>(
        _ key: Key, default fresh: @autoclosure () -> Value, _ change: (inout Value) -> Result
    ) -> Result {
        if young[key] == nil { set(old[key] ?? fresh(), for: key) }
        return change(&young[key, default: fresh()])
    }
}
