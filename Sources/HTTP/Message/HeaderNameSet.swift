/// Names of fields, to ask about all lines of a section in one pass: a bit for each well-known name, text for others.
package struct HeaderNameSet: Sendable, ExpressibleByArrayLiteral {
    private var numbers = HeaderNumberSet()
    private var others: [HeaderName] = []

    /// Holds these names.
    package init(arrayLiteral names: HeaderName...) {
        for name in names { insert(name) }
    }

    /// Returns the well-known names that the closure picks, by their usual spelling.
    package static func wellKnown(where picks: (String) -> Bool) -> HeaderNameSet {
        var names = HeaderNameSet()
        for (index, name) in HeaderNameTable.names.enumerated() where picks(name) {
            names.numbers.insert(UInt8(index + 1))
        }
        return names
    }

    /// Takes a name in.
    package mutating func insert(_ name: HeaderName) {
        if name.id != 0 {
            numbers.insert(name.id)
        } else if !others.contains(name) {
            others.append(name)
        }
    }

    /// Takes the name of a line in.
    mutating func insert(id: UInt8, _ name: Span<UInt8>) {
        if id != 0 { numbers.insert(id) } else { insert(HeaderName(token: name)) }
    }

    /// Tells whether the name of a line is in it.
    func contains(id: UInt8, _ name: Span<UInt8>) -> Bool {
        if id != 0 { return numbers.contains(id) }
        for other in others where other.matches(id: id, name) { return true }
        return false
    }
}
