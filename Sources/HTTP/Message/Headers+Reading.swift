extension Headers {
    /// Tells whether there is a line of that name.
    package func contains(_ name: HeaderName) -> Bool { firstLine(of: name) != nil }

    /// The number of lines of that name.
    package func count(of name: HeaderName) -> Int {
        var count = 0
        forEachValue(of: name) { _ in count += 1 }
        return count
    }

    /// The value of the first line of that name.
    package func first(_ name: HeaderName) -> String? {
        guard let line = firstLine(of: name) else { return nil }
        return String(block.span.extracting(line.value))
    }

    /// The value of each line of that name, in order.
    package func values(_ name: HeaderName) -> [String] {
        var values: [String] = []
        forEachValue(of: name) { values.append(String($0)) }
        return values
    }

    /// The lines of that name as one list (RFC 9110 section 5.3); never for Set-Cookie, which is none.
    package func joined(_ name: HeaderName) -> String? {
        // Nearly always there is one line, which needs no list.
        count(of: name) <= 1 ? first(name) : values(name).joined(separator: ", ")
    }

    /// Compares the first value of that name with an ASCII literal, whatever the case; false if there is none.
    package func firstEquals(_ name: HeaderName, _ lowercasedASCII: StaticString) -> Bool {
        guard let line = firstLine(of: name) else { return false }
        return block.span.extracting(line.value).equalsIgnoringCase(lowercasedASCII)
    }

    /// Hands over the exact bytes of each value of that name, in order.
    package func forEachValue(of name: HeaderName, _ body: (Span<UInt8>) -> Void) {
        guard mayContain(name) else { return }
        let bytes = block.span
        for line in lines where name.matches(id: line.id, bytes.extracting(line.name)) {
            body(bytes.extracting(line.value))
        }
    }

    /// Hands over each line in the order of the wire; a name that is not well known costs a String.
    package func forEach(_ body: (HeaderName, Span<UInt8>) -> Void) {
        let bytes = block.span
        for line in lines {
            body(HeaderName(token: bytes.extracting(line.name)), bytes.extracting(line.value))
        }
    }

    /// Hands over each name that is not in a set, as it was received and in the order of the wire.
    package func forEachName(outside names: HeaderNameSet, _ body: (Span<UInt8>) -> Void) {
        let bytes = block.span
        for line in lines where !names.contains(id: line.id, bytes.extracting(line.name)) {
            body(bytes.extracting(line.name))
        }
    }

    /// Tells whether the first value of that name has a zero before its first digit.
    func isZeroPadded(_ name: HeaderName) -> Bool {
        guard let line = firstLine(of: name), line.value.count > 1 else { return false }
        return block[line.value.lowerBound] == 0x30
    }

    private func firstLine(of name: HeaderName) -> Line? {
        guard mayContain(name) else { return nil }
        let bytes = block.span
        for line in lines where name.matches(id: line.id, bytes.extracting(line.name)) { return line }
        return nil
    }
}
