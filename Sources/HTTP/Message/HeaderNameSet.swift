/// Names of fields, to ask about all lines of a section in one pass: a bit for each well-known name, text for others.
package struct HeaderNameSet: Sendable, ExpressibleByArrayLiteral {
    private var bits: InlineArray<4, UInt64> = [0, 0, 0, 0]
    private var others: [HeaderName] = []

    /// Holds these names.
    package init(arrayLiteral names: HeaderName...) {
        for name in names { insert(name) }
    }

    /// Takes a name in.
    package mutating func insert(_ name: HeaderName) {
        if name.id != 0 {
            insert(id: name.id)
        } else if !others.contains(name) {
            others.append(name)
        }
    }

    mutating func insert(id: UInt8) {
        bits[Int(id >> 6)] |= 1 << UInt64(id & 63)
    }

    /// Tells whether the well-known name with this number is in it.
    @inline(__always)
    func contains(id: UInt8) -> Bool { bits[Int(id >> 6)] & (1 << UInt64(id & 63)) != 0 }

    /// Tells whether the name of a line is in it.
    func contains(id: UInt8, _ name: Span<UInt8>) -> Bool {
        if id != 0 { return contains(id: id) }
        for other in others where other.matches(id: id, name) { return true }
        return false
    }
}
