internal import Primitives

/// Reads field lines up to the empty line that ends them (RFC 9112 section 5), for heads and trailers.
///
/// Looks at each byte once, however the section is cut into pieces.
struct FieldSectionParser: Sendable {
    private(set) var headers = Headers()
    private var scanner = LineScanner()
    private var lineStart = 0
    private var position = 0

    /// Starts with a section at an index of the bytes that every call gets; the fields of the one before have been taken.
    mutating func begin(at start: Int) {
        lineStart = start
        position = start
    }

    /// Hands the fields over without a copy.
    mutating func takeHeaders() -> Headers {
        var taken = Headers()
        swap(&taken, &headers)
        return taken
    }

    /// Reads at most to `limit`; returns the index behind the section, or nil if it is incomplete.
    mutating func parse(_ bytes: Span<UInt8>, to limit: Int, fieldCount: Int) throws(ParseError) -> Int? {
        if headers.isEmpty { reserve(arrived: limit - lineStart) }
        // Nearly every line arrives as it will be written. Adjacent ones are copied at once.
        var announced = lineStart..<lineStart
        while let end = try scanner.endOfLine(bytes, from: position, to: limit) {
            let line = lineStart..<end
            lineStart = end
            position = end
            if line.count == 2 {
                headers.append(announced: bytes.extracting(announced))
                return end
            }
            guard headers.count < fieldCount else { throw .tooManyFields }
            try append(line, of: bytes, &announced)
        }
        headers.append(announced: bytes.extracting(announced))
        position = limit
        return nil
    }

    // Most heads arrive whole, below 4 KiB and 24 fields. The rest is for fields that the proxy adds.
    private mutating func reserve(arrived: Int) {
        guard arrived > 2 else { return }
        headers.reserve(bytes: min(arrived, 4096) + 256, lines: 32)
    }

    // The line includes its CRLF and at least one byte before it.
    @inline(__always)
    private mutating func append(
        _ range: Range<Int>, of bytes: Span<UInt8>, _ announced: inout Range<Int>
    ) throws(ParseError) {
        let line = bytes.extracting(range)
        // RFC 9112 5.2: obs-fold. Before the first field it would fold the start line.
        guard !ASCII.isBlank(line[0]) else { throw .foldedField }
        guard let colon = line.firstIndex(of: ASCII.colon), colon > 0 else { throw .malformedFieldName }
        let name = line.extracting(0..<colon)
        let id = HeaderNameTable.shared.id(of: name)
        // A listed name is a token and never a disguised name.
        if id == 0 { try Self.checkUnlisted(name) }
        if line.count > colon + 4, line[colon + 1] == ASCII.space, !ASCII.isBlank(line[colon + 2]),
            !ASCII.isBlank(line[line.count - 3])
        {
            headers.announce(id: id, nameBytes: colon, lineBytes: line.count, behind: announced.count)
            announced = announced.lowerBound..<range.upperBound
        } else {
            let value = line.trimmedRange(colon + 1..<line.count - 2)
            headers.append(announced: bytes.extracting(announced))
            headers.append(id: id, checkedName: name, line.extracting(value))
            announced = range.upperBound..<range.upperBound
        }
    }

    // RFC 9112 5.1: no white space between the name and the colon.
    static func checkUnlisted(_ name: Span<UInt8>) throws(ParseError) {
        var isPlain = true
        for index in name.indices {
            guard ASCII.isToken(name[index]) else { throw .malformedFieldName }
            isPlain = isPlain && ASCII.isPlainName(name[index])
        }
        if !isPlain { try checkDisguise(name) }
    }

    // Servers that pass fields on as variables accept `Content_Length`, and some `Content.Length`, as
    // Content-Length.
    private static func checkDisguise(_ name: Span<UInt8>) throws(ParseError) {
        for other in framingNames where name.looksLikeName(other.text.utf8.span) {
            throw .disguisedFramingField
        }
        // A proxy replaces or removes these fields, so a disguised one could claim an address.
        for other in HeaderName.forwardingNames where name.looksLikeName(other.text.utf8.span) {
            throw .disguisedForwardingField
        }
    }

    private static let framingNames: [HeaderName] = [.contentLength, .transferEncoding]
}

/// Finds the end of a line that arrives in pieces, and refuses forbidden bytes as soon as it sees them.
///
/// RFC 9112 section 2.2 lets a recipient accept a bare LF as the end of a line. This one does not, because
/// others may not either.
struct LineScanner: Sendable {
    private var sawCarriageReturn = false

    /// Scans from `position`, where the last call stopped, to `limit`.
    ///
    /// Returns the index behind the line's CRLF, or nil if the line is incomplete.
    @inline(__always)
    mutating func endOfLine(
        _ bytes: Span<UInt8>, from position: Int, to limit: Int
    ) throws(ParseError) -> Int? {
        var index = position
        if !sawCarriageReturn {
            index = bytes.endOfFieldValue(index..<limit)
            guard index < limit else { return nil }
            let byte = bytes[index]
            guard byte == ASCII.carriageReturn else {
                throw byte == ASCII.lineFeed ? .bareLineFeed : .controlByte
            }
            sawCarriageReturn = true
            index += 1
        }
        guard index < limit else { return nil }
        guard bytes[index] == ASCII.lineFeed else { throw .bareCarriageReturn }
        sawCarriageReturn = false
        return index + 1
    }
}
