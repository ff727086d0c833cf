extension Headers {
    /// True if there is a line with one of the names.
    package func containsAny(of names: HeaderNameSet) -> Bool {
        let bytes = block.span
        for line in lines where names.contains(id: line.id, bytes.extracting(line.name)) { return true }
        return false
    }

    /// True if there is a line with any other name.
    package func containsAny(outside names: HeaderNameSet) -> Bool {
        let bytes = block.span
        for line in lines where !names.contains(id: line.id, bytes.extracting(line.name)) { return true }
        return false
    }

    package mutating func removeAll(_ names: HeaderNameSet) {
        removeLines { line, block in names.contains(id: line.id, block.extracting(line.name)) }
    }

    /// True if every line of another section occurs here too, byte for byte, except lines with names in
    /// `ignored`.
    package func holdsLines(of other: Headers, ignoring ignored: HeaderNameSet) -> Bool {
        let bytes = block.span
        let otherBytes = other.block.span
        return other.lines.allSatisfy { line in
            let text = otherBytes.extracting(Int(line.start)..<Int(line.end))
            return ignored.contains(id: line.id, otherBytes.extracting(line.name))
                || lines.contains {
                    $0.id == line.id && bytes.extracting(Int($0.start)..<Int($0.end)).equals(text)
                }
        }
    }

    /// Replaces lines with those of another section that have the same names (RFC 9111 section 3.2).
    ///
    /// Names in `kept` stay as they are here.
    package mutating func update(with other: Headers, keeping kept: HeaderNameSet) {
        let bytes = other.block.span
        var replaced: HeaderNameSet = []
        for line in other.lines where !kept.contains(id: line.id, bytes.extracting(line.name)) {
            replaced.insert(id: line.id, bytes.extracting(line.name))
        }
        removeAll(replaced)
        for line in other.lines where replaced.contains(id: line.id, bytes.extracting(line.name)) {
            append(line, of: bytes)
        }
    }
}
