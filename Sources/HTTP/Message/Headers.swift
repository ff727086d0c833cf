internal import Primitives

/// The fields of a head or a trailer section, in wire order.
///
/// One block of bytes holds every line as it will be written: `Name: value` and CRLF, names as received, values
/// without surrounding blanks. A table says where each line is. Removing a line removes only its table entry.
/// Bytes that are not UTF-8 stay as they came.
package struct Headers: Sendable {
    /// The place of one line within the block.
    struct Line: Sendable {
        var start: UInt32
        var nameEnd: UInt32
        var end: UInt32
        var id: UInt8

        var name: Range<Int> { Int(start)..<Int(nameEnd) }
        // ": " precedes the value and CRLF follows it.
        var value: Range<Int> { Int(nameEnd) + 2..<Int(end) - 2 }
    }

    private(set) var block: [UInt8] = []
    private(set) var lines: [Line] = []
    /// The well-known names that may be here, and 0 if any other may.
    ///
    /// Most look-ups are for names that have not.
    private(set) var seen = HeaderNumberSet()

    package init() {}

    package var count: Int { lines.count }

    package var isEmpty: Bool { lines.isEmpty }

    /// Reserves memory for a section of about this size, so that neither parsing nor a few more lines
    /// reallocate.
    mutating func reserve(bytes: Int, lines lineCount: Int) {
        block.reserveCapacity(bytes)
        lines.reserveCapacity(lineCount)
    }

    /// Appends a line; bytes that no field value may hold (RFC 9110 section 5.5) become blanks.
    package mutating func append(_ name: HeaderName, _ value: String) {
        append(name, value.utf8.span)
    }

    /// Appends a line; bytes that no field value may hold (RFC 9110 section 5.5) become blanks.
    package mutating func append(_ name: HeaderName, _ value: borrowing [UInt8]) {
        append(name, value.span)
    }

    package mutating func append(_ name: HeaderName, _ number: UInt64) {
        let start = block.count
        name.write(into: &block)
        let nameEnd = block.count - 2
        block.append(decimal: number)
        block.appendLineEnd()
        addLine(id: name.id, start: start, nameEnd: nameEnd, end: block.count)
    }

    /// Appends a line; bytes that no field value may hold (RFC 9110 section 5.5) become blanks.
    package mutating func append(_ name: HeaderName, _ value: Span<UInt8>) {
        let value = value.extracting(value.trimmedRange(0..<value.count))
        guard value.endOfFieldValue(0..<value.count) == value.count else {
            let blanked = value.indices.map { ASCII.isFieldValue(value[$0]) ? value[$0] : ASCII.space }
            return append(name, blanked.span)
        }
        append(name, checked: value)
    }

    /// Appends a line whose value has no blanks at its ends, and no bytes that no field value may hold.
    package mutating func append(_ name: HeaderName, checked value: Span<UInt8>) {
        let start = block.count
        name.write(into: &block)
        let nameEnd = block.count - 2
        block.append(value)
        block.appendLineEnd()
        addLine(id: name.id, start: start, nameEnd: nameEnd, end: block.count)
    }

    /// Appends the lines of another section.
    package mutating func append(_ other: borrowing Headers) {
        let start = block.count
        block.append(other.block.span)
        for line in other.lines {
            addLine(
                id: line.id, start: start + Int(line.start), nameEnd: start + Int(line.nameEnd),
                end: start + Int(line.end))
        }
    }

    /// Appends a received line whose name and value have been checked.
    mutating func append(id: UInt8, checkedName name: Span<UInt8>, _ value: Span<UInt8>) {
        let start = block.count
        block.append(name)
        block.append(": ")
        block.append(value)
        block.appendLineEnd()
        addLine(id: id, start: start, nameEnd: start + name.count, end: block.count)
    }

    /// Enters a checked line into the table.
    ///
    /// Its bytes must be appended next, behind `distance` others.
    mutating func announce(id: UInt8, nameBytes: Int, lineBytes: Int, behind distance: Int) {
        let start = block.count + distance
        addLine(id: id, start: start, nameEnd: start + nameBytes, end: start + lineBytes)
    }

    mutating func append(announced bytes: Span<UInt8>) {
        block.append(bytes)
    }

    /// Appends a line of another section's block.
    mutating func append(_ line: Line, of other: Span<UInt8>) {
        let start = block.count
        block.append(other.extracting(Int(line.start)..<Int(line.end)))
        addLine(id: line.id, start: start, nameEnd: start + Int(line.nameEnd - line.start), end: block.count)
    }

    private mutating func addLine(id: UInt8, start: Int, nameEnd: Int, end: Int) {
        seen.insert(id)
        lines.append(Line(start: UInt32(start), nameEnd: UInt32(nameEnd), end: UInt32(end), id: id))
    }

    /// False if there is surely no line of this name.
    @inline(__always)
    func mayContain(_ name: HeaderName) -> Bool { seen.contains(name.id) }

    package mutating func remove(_ name: HeaderName) {
        guard mayContain(name) else { return }
        removeLines { line, block in name.matches(line, of: block) }
        if name.id != 0 { seen.remove(name.id) }
    }

    package mutating func removeAll(_ names: HeaderNameSet) {
        guard names.mayMeet(seen) else { return }
        removeLines { line, block in names.contains(line, of: block) }
        seen.subtract(names.numbers)
    }

    /// Removes every line of this name, and of each that a server which passes fields on as variables takes for it, such as
    /// `X_Name` for `X-Name`.
    package mutating func removeLookalikes(of name: HeaderName) {
        // No well-known name looks like another.
        guard name.id == 0 || seen.contains(name.id) || seen.contains(0) else { return }
        let text = name.text
        removeLines { line, block in
            name.id != 0 && line.id != 0
                ? name.id == line.id : block.extracting(line.name).looksLikeName(text.utf8.span)
        }
    }

    /// Removes every line for whose name the closure is true; a name that is not well known costs a String.
    package mutating func removeAll(where picks: (HeaderName) -> Bool) {
        removeLines { line, block in picks(HeaderName(token: block.extracting(line.name))) }
    }

    /// Removes every line of this name and appends one instead.
    package mutating func replace(_ name: HeaderName, with value: String) {
        remove(name)
        append(name, value)
    }

    mutating func removeLines(where picks: (Line, Span<UInt8>) -> Bool) {
        var kept = 0
        while kept < lines.count, !picks(lines[kept], block.span) { kept += 1 }
        // Mostly there is none to remove; then the table stays shared with copies of the section.
        guard kept < lines.count else { return }
        var rest: [Line] = []
        swap(&rest, &lines)
        let first = kept + 1
        var table = rest.mutableSpan
        for index in first..<table.count where !picks(table[index], block.span) {
            table[kept] = table[index]
            kept += 1
        }
        while rest.count > kept { rest.removeLast() }
        swap(&rest, &lines)
    }

    /// Appends the lines in wire format, without the empty line that ends the section.
    package func write(into output: inout [UInt8]) {
        let bytes = block.span
        // Adjacent lines are copied at once.
        var run = 0..<0
        for line in lines {
            if run.upperBound != Int(line.start) {
                output.append(bytes.extracting(run))
                run = Int(line.start)..<Int(line.start)
            }
            run = run.lowerBound..<Int(line.end)
        }
        output.append(bytes.extracting(run))
    }
}
