extension Headers {
    /// Calls `body` with each member of the comma-separated list in all lines of this name.
    ///
    /// Empty members are skipped (RFC 9110 section 5.6.1.2), and a comma within a quoted-string is no
    /// separator.
    package func forEachListMember(of name: HeaderName, _ body: (Span<UInt8>) -> Void) {
        forEachValue(of: name) { value in
            var start = 0
            while start < value.count {
                let end = Self.endOfMember(value, from: start)
                let member = value.trimmedRange(start..<end)
                if !member.isEmpty { body(value.extracting(member)) }
                start = end + 1
            }
        }
    }

    /// Calls `body` with the members of that list from the last to the first, until it returns false.
    ///
    /// Members before that one are not read.
    package func forEachListMemberFromEnd(of name: HeaderName, _ body: (Span<UInt8>) -> Bool) {
        guard mayContain(name) else { return }
        let bytes = block.span
        for line in lines.reversed() where name.matches(id: line.id, bytes.extracting(line.name)) {
            let value = bytes.extracting(line.value)
            var end = value.count
            while end > 0 {
                let start = Self.startOfMember(value, before: end)
                let member = value.trimmedRange(start..<end)
                if !member.isEmpty, !body(value.extracting(member)) { return }
                end = start - 1
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

    private static func startOfMember(_ value: Span<UInt8>, before end: Int) -> Int {
        var quoted = false
        var index = end
        while index > 0 {
            let byte = value[index - 1]
            if byte == ASCII.comma, !quoted { return index }
            let isEscaped = quoted && index > 1 && value[index - 2] == ASCII.backslash
            if byte == ASCII.quote, !isEscaped { quoted.toggle() }
            index -= 1
        }
        return 0
    }

    // RFC 9110 5.6.4: within quotes a backslash escapes the next byte.
    private static func endOfMember(_ value: Span<UInt8>, from start: Int) -> Int {
        var quoted = false
        var index = start
        while index < value.count {
            switch value[index] {
            case ASCII.comma where !quoted: return index
            case ASCII.quote: quoted.toggle()
            case ASCII.backslash where quoted: index += 1
            default: break
            }
            index += 1
        }
        return value.count
    }
}
