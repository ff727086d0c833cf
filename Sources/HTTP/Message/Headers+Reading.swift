internal import Primitives

extension Headers {
    package func contains(_ name: HeaderName) -> Bool { mayContain(name) && firstLine(of: name) != nil }

    package func count(of name: HeaderName) -> Int {
        var count = 0
        forEachValue(of: name) { _ in count += 1 }
        return count
    }

    /// Returns the value of the first line of this name.
    package func first(_ name: HeaderName) -> String? {
        guard mayContain(name), let line = firstLine(of: name) else { return nil }
        return String(block.span.extracting(line.value))
    }

    /// Returns the value of each line of this name, in order.
    package func values(_ name: HeaderName) -> [String] {
        var values: [String] = []
        forEachValue(of: name) { values.append(String($0)) }
        return values
    }

    /// Returns the lines of this name as one list (RFC 9110 section 5.3); not for Set-Cookie, which is not a
    /// list.
    package func joined(_ name: HeaderName) -> String? {
        guard mayContain(name) else { return nil }
        // Nearly always there is one line, which needs no list.
        return count(of: name) <= 1 ? first(name) : values(name).joined(separator: ", ")
    }

    /// Returns the same as the bytes that came: what is no UTF-8 differs from what a text repairs it to.
    package func joinedBytes(_ name: HeaderName) -> [UInt8]? {
        guard mayContain(name) else { return nil }
        var bytes: [UInt8]?
        forEachValue(of: name) { value in
            if bytes != nil { bytes?.append(", ") } else { bytes = [] }
            bytes?.append(value)
        }
        return bytes
    }

    /// Compares the first value of this name with an ASCII literal in any case; false if there is none.
    package func firstEquals(_ name: HeaderName, _ lowercasedASCII: StaticString) -> Bool {
        guard mayContain(name), let line = firstLine(of: name) else { return false }
        return block.span.extracting(line.value).equalsIgnoringCase(lowercasedASCII)
    }

    /// Calls `body` with the exact bytes of each value of this name, in order.
    package func forEachValue(of name: HeaderName, _ body: (Span<UInt8>) -> Void) {
        guard mayContain(name) else { return }
        let bytes = block.span
        for line in lines where name.matches(line, of: bytes) {
            body(bytes.extracting(line.value))
        }
    }

    /// Calls `body` with each name that is not in the set, as received and in wire order.
    package func forEachName(outside names: HeaderNameSet, _ body: (Span<UInt8>) -> Void) {
        let bytes = block.span
        for line in lines where !names.contains(line, of: bytes) {
            body(bytes.extracting(line.name))
        }
    }

    /// True if the first value of this name begins with a zero that other bytes follow.
    func isZeroPadded(_ name: HeaderName) -> Bool {
        guard mayContain(name), let line = firstLine(of: name), line.value.count > 1 else { return false }
        return block[line.value.lowerBound] == 0x30
    }

    // The caller has asked `mayContain`, which the compiler reduces to the test of a bit.
    private func firstLine(of name: HeaderName) -> Line? {
        let bytes = block.span
        for line in lines where name.matches(line, of: bytes) { return line }
        return nil
    }

    // MARK: Lists

    /// Calls `body` with each member of the comma-separated list in all lines of this name.
    ///
    /// Empty members are skipped (RFC 9110 section 5.6.1.2), and a comma within a quoted-string is no
    /// separator.
    package func forEachListMember(of name: HeaderName, _ body: (Span<UInt8>) -> Void) {
        forEachValue(of: name) { value in
            // Most lists have one member, and no value has blanks at its ends.
            guard value.firstIndex(of: ASCII.comma) != nil else {
                if !value.isEmpty { body(value) }
                return
            }
            var members = ListMembers(0..<value.count)
            while let member = members.next(in: value) { body(value.extracting(member)) }
        }
    }

    /// Calls `body` with the members of that list from the last to the first, until it returns false.
    ///
    /// Members before that one are not read.
    package func forEachListMemberFromEnd(of name: HeaderName, _ body: (Span<UInt8>) -> Bool) {
        guard mayContain(name) else { return }
        let bytes = block.span
        for line in lines.reversed() where name.matches(line, of: bytes) {
            let value = bytes.extracting(line.value)
            var members = ListMembers(0..<value.count)
            while let member = members.popLast(in: value) {
                guard body(value.extracting(member)) else { return }
            }
        }
    }

    /// True if a member of that list is the token, in any case and without parameters.
    package func containsToken(_ name: HeaderName, _ token: StaticString) -> Bool {
        var found = false
        forEachListMember(of: name) { member in
            if member.equalsIgnoringCase(token) { found = true }
        }
        return found
    }
}
