/// A set of field names that is compared with all lines of a section in one pass.
package struct HeaderNameSet: Sendable, ExpressibleByArrayLiteral {
    /// The well-known names of the set.
    private(set) var numbers = HeaderNumberSet()
    private var others: [HeaderName] = []

    package init(arrayLiteral names: HeaderName...) { self.init(names) }

    package init(_ names: [HeaderName]) {
        for name in names { insert(name) }
    }

    /// The fields in which a proxy tells of its client.
    package static let forwarding = HeaderNameSet(HeaderName.forwardingNames)

    /// The fields of a request that a proxy has forwarded; clients send none of them.
    static let ofForwarded = HeaderNameSet(HeaderName.forwardingNames + [.via])

    /// Returns the well-known names for which the closure is true.
    ///
    /// It gets their usual spelling.
    package static func wellKnown(where picks: (String) -> Bool) -> HeaderNameSet {
        var names = HeaderNameSet()
        for (index, name) in HeaderNameTable.names.enumerated() where picks(name) {
            names.numbers.insert(UInt8(index + 1))
        }
        return names
    }

    package func adding(_ names: [HeaderName]) -> HeaderNameSet {
        var set = self
        for name in names { set.insert(name) }
        return set
    }

    /// Returns a set that has the names of these texts too; a text that is no token names nothing.
    package func adding(_ texts: [String]) -> HeaderNameSet { adding(texts.compactMap(HeaderName.init)) }

    mutating func insert(_ name: HeaderName) {
        if name.id != 0 {
            numbers.insert(name.id)
        } else if !others.contains(name) {
            others.append(name)
        }
    }

    mutating func insert(id: UInt8, _ name: Span<UInt8>) {
        if id != 0 { numbers.insert(id) } else { insert(HeaderName(token: name)) }
    }

    package func contains(_ name: HeaderName) -> Bool {
        name.id != 0 ? numbers.contains(name.id) : others.contains(name)
    }

    /// False if the set surely has no name of a section with these well-known ones.
    func mayMeet(_ seen: HeaderNumberSet) -> Bool {
        !others.isEmpty && seen.contains(0) || numbers.meets(seen)
    }

    @inline(__always)
    func contains(_ line: Headers.Line, of block: Span<UInt8>) -> Bool {
        if line.id != 0 { return numbers.contains(line.id) }
        for other in others where other.matches(line, of: block) { return true }
        return false
    }
}

/// A set of well-known names, one bit for each number; 0 stands for all others.
struct HeaderNumberSet: Sendable {
    private var bits: InlineArray<4, UInt64> = [0, 0, 0, 0]

    @inline(__always)
    mutating func insert(_ number: UInt8) {
        bits[Int(number >> 6)] |= 1 << UInt64(number & 63)
    }

    mutating func subtract(_ other: HeaderNumberSet) {
        for index in bits.indices { bits[index] &= ~other.bits[index] }
    }

    mutating func remove(_ number: UInt8) {
        bits[Int(number >> 6)] &= ~(1 << UInt64(number & 63))
    }

    func meets(_ other: HeaderNumberSet) -> Bool {
        for index in bits.indices where bits[index] & other.bits[index] != 0 { return true }
        return false
    }

    @inline(__always)
    func contains(_ number: UInt8) -> Bool { bits[Int(number >> 6)] & (1 << UInt64(number & 63)) != 0 }
}
