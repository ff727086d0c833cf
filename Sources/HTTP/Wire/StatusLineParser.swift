/// The parts of a status line.
struct StatusLine: Sendable {
    let status: Status
    let version: Version
    let reason: [UInt8]?
}

/// Reads a status line (RFC 9112 section 4): `HTTP-version SP 3DIGIT [ SP reason-phrase ]`.
struct StatusLineParser: Sendable {
    /// The index of the next byte; of the fields, once the line is complete.
    private(set) var position = 0
    private var scanner = LineScanner()

    /// Reads on; returns nil if the line is incomplete.
    mutating func parse(_ bytes: Span<UInt8>, _ limits: MessageLimits) throws(ParseError) -> StatusLine? {
        let limit = min(bytes.count, limits.headBytes)
        guard let end = try scanner.endOfLine(bytes, from: position, to: limit) else {
            guard limit < limits.headBytes else { throw .headTooLarge }
            position = limit
            return nil
        }
        position = end
        return try Self.line(bytes.extracting(0..<end - 2))
    }

    private static func line(_ line: Span<UInt8>) throws(ParseError) -> StatusLine {
        guard line.count >= 12, line.extracting(0..<5).equals("HTTP/"),
            ASCII.isDigit(line[5]), line[6] == 0x2e, ASCII.isDigit(line[7])
        else { throw .malformedStatusLine }
        guard line[5] == 0x31 else { throw .unsupportedVersion }
        // RFC 9110 15: codes are 100 to 599.
        guard line[8] == ASCII.space, (0x31...0x35).contains(line[9]), ASCII.isDigit(line[10]),
            ASCII.isDigit(line[11])
        else { throw .malformedStatusLine }
        let code = UInt16(line[9] - 0x30) * 100 + UInt16(line[10] - 0x30) * 10 + UInt16(line[11] - 0x30)
        let status = Status(rawValue: code)
        return StatusLine(
            status: status, version: line[7] == 0x30 ? .http10 : .http11,
            reason: try reason(line.extracting(12..<line.count), of: status))
    }

    // Some servers omit the blank before an empty phrase. A registered phrase needs no copy.
    private static func reason(_ rest: Span<UInt8>, of status: Status) throws(ParseError) -> [UInt8]? {
        guard !rest.isEmpty else { return [] }
        guard rest[0] == ASCII.space else { throw .malformedStatusLine }
        let phrase = rest.extracting(1..<rest.count)
        if phrase.equals(status.reason) { return nil }
        var copy: [UInt8] = []
        copy.append(phrase)
        return copy
    }
}
