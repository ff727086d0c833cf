internal import Primitives

struct RequestLine: Sendable {
    let method: Method
    let target: RequestTarget
    let version: HTTPVersion
}

/// Reads a request line byte by byte (RFC 9112 section 3): exactly one SP between its three parts.
///
/// Refuses a wrong byte at once, so that a peer with another protocol does not wait for a response.
struct RequestLineParser: Sendable {
    private enum Expected {
        case emptyLine, emptyLineFeed, method, target, version, carriageReturn, lineFeed
    }

    /// The index of the request line, behind an empty line if there was one.
    private(set) var start = 0
    /// The index of the next byte; of the fields, once the line is complete.
    private(set) var position = 0
    /// True once a byte behind the empty line has come.
    var hasBegun: Bool { position > start && expected != .emptyLineFeed }
    private var expected = Expected.emptyLine
    private var mark = 0
    private var method = 0..<0
    private var target = 0..<0
    private var majorVersion: UInt8 = 0
    private var version = HTTPVersion.http11

    private static let methodBytesMax = 32

    /// Reads on; returns nil if the line is incomplete.
    mutating func parse(_ bytes: Span<UInt8>, _ limits: MessageLimits) throws(ParseError) -> RequestLine? {
        while position < bytes.count {
            guard position - start < limits.headBytes else { throw .headTooLarge }
            let isLast = expected == .lineFeed
            try take(bytes[position], limits)
            position += 1
            if isLast { return try line(bytes) }
            if expected == .target { position = endOfVisible(bytes, limits) }
        }
        return nil
    }

    /// Returns the index behind the visible bytes of the target that the limits allow, for which no state changes.
    private func endOfVisible(_ bytes: Span<UInt8>, _ limits: MessageLimits) -> Int {
        let room = min(limits.requestTargetBytes - (position - mark), limits.headBytes - (position - start))
        let limit = position + max(0, min(bytes.count - position, room))
        var index = position
        while index < limit, ASCII.isVisible(bytes[index]) { index += 1 }
        return index
    }

    private func line(_ bytes: Span<UInt8>) throws(ParseError) -> RequestLine {
        let method = Method(token: bytes.extracting(method))
        let target = try RequestTarget(bytes.extracting(target), method: method)
        return RequestLine(method: method, target: target, version: version)
    }

    private mutating func take(_ byte: UInt8, _ limits: MessageLimits) throws(ParseError) {
        switch expected {
        case .emptyLine:
            // RFC 9112 2.2: a server should ignore at least one empty line before the request line. This one
            // ignores exactly one.
            if byte == ASCII.carriageReturn {
                expected = .emptyLineFeed
            } else {
                expected = .method
                try takeMethod(byte)
            }
        case .emptyLineFeed:
            guard byte == ASCII.lineFeed else { throw .bareCarriageReturn }
            start = position + 1
            begin(.method)
        case .method: try takeMethod(byte)
        case .target: try takeTarget(byte, limits.requestTargetBytes)
        case .version: try takeVersion(byte)
        case .carriageReturn:
            guard byte == ASCII.carriageReturn else { throw Self.fault(of: byte, else: .malformedVersion) }
            expected = .lineFeed
        case .lineFeed:
            guard byte == ASCII.lineFeed else { throw .bareCarriageReturn }
        }
    }

    private mutating func begin(_ next: Expected) {
        expected = next
        mark = position + 1
    }

    // method = token, SP
    private mutating func takeMethod(_ byte: UInt8) throws(ParseError) {
        if ASCII.isToken(byte) {
            guard position - mark < Self.methodBytesMax else { throw .malformedMethod }
        } else {
            guard byte == ASCII.space, position > mark else {
                throw Self.fault(of: byte, else: .malformedMethod)
            }
            method = mark..<position
            begin(.target)
        }
    }

    // request-target, SP. The forms are checked once the line is complete.
    private mutating func takeTarget(_ byte: UInt8, _ bytesMax: Int) throws(ParseError) {
        if ASCII.isVisible(byte) {
            guard position - mark < bytesMax else { throw .targetTooLong }
        } else {
            // A line that ends here is HTTP/0.9.
            guard byte != ASCII.carriageReturn else { throw .malformedVersion }
            guard byte == ASCII.space, position > mark else {
                throw Self.fault(of: byte, else: .malformedTarget)
            }
            target = mark..<position
            begin(.version)
        }
    }

    // HTTP-version = "HTTP/" DIGIT "." DIGIT (RFC 9112 section 2.3)
    private mutating func takeVersion(_ byte: UInt8) throws(ParseError) {
        let isRight: Bool
        switch position - mark {
        case 0: isRight = byte == 0x48
        case 1, 2: isRight = byte == 0x54
        case 3: isRight = byte == 0x50
        case 4: isRight = byte == 0x2f
        case 5:
            isRight = ASCII.isDigit(byte)
            majorVersion = byte
        case 6: isRight = byte == 0x2e
        default:
            isRight = ASCII.isDigit(byte)
            version = byte == 0x30 ? .http10 : .http11
            expected = .carriageReturn
        }
        guard isRight else { throw Self.fault(of: byte, else: .malformedVersion) }
        if expected == .carriageReturn, majorVersion != 0x31 { throw .unsupportedVersion }
    }

    private static func fault(of byte: UInt8, else fault: ParseError) -> ParseError {
        switch byte {
        case ASCII.lineFeed: .bareLineFeed
        case ASCII.carriageReturn: fault
        case 0..<0x20, 0x7f: .controlByte
        default: fault
        }
    }
}

struct StatusLine: Sendable {
    let status: Status
    let version: HTTPVersion
    let reason: [UInt8]?

    /// The bytes before the phrase of a line of HTTP/1.1.
    static let phraseStart = 13
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
        let line = status.line
        let registered = line.span.extracting(StatusLine.phraseStart..<line.count - 2)
        return phrase.equals(registered) ? nil : [UInt8](copying: phrase)
    }
}
