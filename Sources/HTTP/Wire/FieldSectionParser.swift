/// Reads field lines up to the empty line that ends them (RFC 9112 section 5), for heads and trailers.
///
/// Each byte is looked at once, however the section is cut into pieces.
struct FieldSectionParser: Sendable {
    /// The fields read so far.
    private(set) var headers = Headers()
    private var scanner = LineScanner()
    private var lineStart: Int
    private var position: Int

    /// Begins at an index of the bytes that every call is given.
    init(start: Int) {
        lineStart = start
        position = start
    }

    /// Reads what has arrived, at most to `limit`; returns the index behind the section, or nil when it goes on.
    mutating func parse(
        _ bytes: Span<UInt8>, to limit: Int, fieldCount: Int
    ) throws(ParseError) -> Int? {
        if headers.isEmpty { reserve(arrived: limit - lineStart) }
        while let end = try scanner.endOfLine(bytes, from: position, to: limit) {
            let line = lineStart..<end
            lineStart = end
            position = end
            if line.count == 2 { return end }
            guard headers.count < fieldCount else { throw .tooManyFields }
            try append(bytes.extracting(line))
        }
        position = limit
        return nil
    }

    // Most heads arrive whole, below 4 KiB and 24 fields; the rest is for the fields that we shall add.
    private mutating func reserve(arrived: Int) {
        guard arrived > 2 else { return }
        headers.reserve(bytes: min(arrived, 4096) + 512, lines: 32)
    }

    // The line has its CRLF, and something before it.
    private mutating func append(_ line: Span<UInt8>) throws(ParseError) {
        // RFC 9112 5.2: obs-fold; at the first line too, where it would fold the start line.
        guard !ASCII.isBlank(line[0]) else { throw .foldedField }
        // RFC 9112 5.1: no white space between the name and the colon.
        var colon = 0
        while ASCII.isPlainName(line[colon]) { colon += 1 }
        let isPlain = !ASCII.isToken(line[colon])
        while ASCII.isToken(line[colon]) { colon += 1 }
        guard colon > 0, line[colon] == ASCII.colon else { throw .malformedFieldName }
        if !isPlain { try Self.checkDisguise(line.extracting(0..<colon)) }
        let value = line.trimmedRange(colon + 1..<line.count - 2)
        headers.append(checkedLine: line, colon: colon, value: value)
    }

    // Servers that hand fields on as variables take `Content_Length`, and some `Content.Length`, for Content-Length.
    private static func checkDisguise(_ name: Span<UInt8>) throws(ParseError) {
        var squeezed: [UInt8] = []
        for index in name.indices where ASCII.isLetter(name[index]) || ASCII.isDigit(name[index]) {
            squeezed.append(name[index])
        }
        let span = squeezed.span
        if span.equalsIgnoringCase("contentlength") || span.equalsIgnoringCase("transferencoding") {
            throw .disguisedFramingField
        }
        // Those that a proxy replaces, so that nobody can claim an address.
        if span.equalsIgnoringCase("xforwardedfor") || span.equalsIgnoringCase("xforwardedproto")
            || span.equalsIgnoringCase("xforwardedhost") || span.equalsIgnoringCase("forwarded")
        {
            throw .disguisedForwardingField
        }
    }
}
