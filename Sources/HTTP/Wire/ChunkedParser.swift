internal import Primitives

/// Reads a body in the chunked transfer coding (RFC 9112 section 7.1) from pieces of any size.
///
/// Passes data on and keeps none; only the trailer section is buffered. After an error the message is lost.
package struct ChunkedParser: Sendable {
    private enum Expected {
        case sizeLine, data, carriageReturn, lineFeed, trailers, end
    }

    /// The trailer fields without the forbidden ones (RFC 9110 section 6.5.1), complete once the body is.
    package private(set) var trailers = Headers()
    private let limits: MessageLimits
    private var expected = Expected.sizeLine
    private var sizeLine = ChunkSizeLine()
    private var extensionBytes = 0
    private var remaining: UInt64 = 0
    private var trailerBytes: [UInt8] = []
    private var fields = FieldSectionParser()

    package init(limits: MessageLimits = MessageLimits()) { self.limits = limits }

    /// True once the last byte of the body, trailers included, has been read.
    package var isComplete: Bool { expected == .end }

    /// Reads the body from `offset` on, passes its data to `onData` piece by piece, and returns the index
    /// behind it.
    ///
    /// That is the end of `bytes` unless the body is complete.
    package mutating func parse(
        _ bytes: Span<UInt8>, from offset: Int = 0, onData: (Span<UInt8>) -> Void
    ) throws(ParseError) -> Int {
        var position = offset
        while position < bytes.count {
            switch expected {
            case .sizeLine:
                try takeSizeLine(bytes[position])
                position += 1
            case .data:
                let count = Int(min(remaining, UInt64(bytes.count - position)))
                onData(bytes.extracting(position..<position + count))
                position += count
                remaining -= UInt64(count)
                if remaining == 0 { expected = .carriageReturn }
            case .carriageReturn:
                guard bytes[position] == ASCII.carriageReturn else { throw .malformedChunkEnd }
                expected = .lineFeed
                position += 1
            case .lineFeed:
                guard bytes[position] == ASCII.lineFeed else { throw .malformedChunkEnd }
                expected = .sizeLine
                position += 1
            case .trailers:
                position = try takeTrailers(bytes, from: position)
            case .end:
                return position
            }
        }
        return position
    }

    private mutating func takeSizeLine(_ byte: UInt8) throws(ParseError) {
        let allowance = min(limits.chunkExtensionBytes, limits.chunkExtensionBytesTotal - extensionBytes)
        guard try sizeLine.take(byte, extensionBytesMax: allowance) else { return }
        remaining = sizeLine.size
        extensionBytes += sizeLine.extensionBytes
        // RFC 9112 7.1: last-chunk has the size 0, and trailers follow instead of data.
        expected = remaining == 0 ? .trailers : .data
        sizeLine = ChunkSizeLine()
    }

    private mutating func takeTrailers(_ bytes: Span<UInt8>, from position: Int) throws(ParseError) -> Int {
        let gathered = trailerBytes.count
        let taken = min(bytes.count - position, limits.trailerBytes - gathered)
        trailerBytes.append(bytes.extracting(position..<position + taken))
        let section = trailerBytes
        guard let end = try fields.parse(section.span, to: section.count, fieldCount: limits.trailerCount)
        else {
            guard section.count < limits.trailerBytes else { throw .trailersTooLarge }
            return position + taken
        }
        trailers = fields.headers
        trailers.removeAll { $0.isForbiddenInTrailers }
        trailerBytes = []
        expected = .end
        return position + end - gathered
    }
}

/// Reads the line before the data of a chunk, byte by byte (RFC 9112 section 7.1).
///
///     chunk-size [ chunk-ext ] CRLF
///     chunk-ext = *( BWS ";" BWS chunk-ext-name [ BWS "=" BWS chunk-ext-val ] )
///
/// Extensions must be well formed and are dropped.
struct ChunkSizeLine: Sendable {
    private enum Expected {
        case size, blanksBeforeSemicolon, blanksBeforeName, name, blanksAfterName
        case blanksBeforeValue, value, quoted, escaped, valueEnd, lineFeed
    }

    /// The size of the chunk, once the line is complete.
    private(set) var size: UInt64 = 0
    private(set) var extensionBytes = 0
    private var digits = 0
    private var expected = Expected.size

    // 60 bits, so that no sum of a size and another number overflows.
    private static let digitsMax = 15

    /// Takes the next byte; returns true once the line is complete.
    mutating func take(_ byte: UInt8, extensionBytesMax: Int) throws(ParseError) -> Bool {
        if expected == .lineFeed {
            guard byte == ASCII.lineFeed else { throw .bareCarriageReturn }
            return true
        }
        if byte == ASCII.lineFeed { throw .bareLineFeed }
        if byte == ASCII.carriageReturn {
            try endLine()
        } else if expected == .size {
            try takeSize(byte, extensionBytesMax)
        } else {
            try takeExtension(byte, extensionBytesMax)
        }
        return false
    }

    private mutating func endLine() throws(ParseError) {
        switch expected {
        case .size where digits > 0, .name, .value, .valueEnd: expected = .lineFeed
        case .size: throw .malformedChunkSize
        default: throw .malformedChunkExtension
        }
    }

    private mutating func takeSize(_ byte: UInt8, _ extensionBytesMax: Int) throws(ParseError) {
        if let digit = ASCII.hexadecimal(byte) {
            guard digits < Self.digitsMax else { throw .malformedChunkSize }
            size = size << 4 | UInt64(digit)
            digits += 1
        } else {
            guard digits > 0, byte == ASCII.semicolon || ASCII.isBlank(byte) else {
                throw .malformedChunkSize
            }
            expected = .blanksBeforeSemicolon
            try takeExtension(byte, extensionBytesMax)
        }
    }

    private mutating func takeExtension(_ byte: UInt8, _ bytesMax: Int) throws(ParseError) {
        guard extensionBytes < bytesMax else { throw .chunkExtensionTooLong }
        extensionBytes += 1
        guard let next = Self.expected(after: expected, byte) else { throw .malformedChunkExtension }
        expected = next
    }

    private static func expected(after expected: Expected, _ byte: UInt8) -> Expected? {
        let isToken = ASCII.isToken(byte)
        let isBlank = ASCII.isBlank(byte)
        switch expected {
        case .size, .lineFeed: return nil
        case .blanksBeforeSemicolon:
            return isBlank ? expected : byte == ASCII.semicolon ? .blanksBeforeName : nil
        case .blanksBeforeName: return isBlank ? expected : isToken ? .name : nil
        case .name where isToken: return .name
        case .name, .blanksAfterName:
            if byte == ASCII.equals { return .blanksBeforeValue }
            return isBlank ? .blanksAfterName : byte == ASCII.semicolon ? .blanksBeforeName : nil
        case .blanksBeforeValue:
            if byte == ASCII.quote { return .quoted }
            return isBlank ? expected : isToken ? .value : nil
        case .value where isToken: return .value
        case .value, .valueEnd:
            return isBlank ? .blanksBeforeSemicolon : byte == ASCII.semicolon ? .blanksBeforeName : nil
        // RFC 9110 5.6.4: quoted-string
        case .quoted where byte == ASCII.quote: return .valueEnd
        case .quoted where byte == ASCII.backslash: return .escaped
        case .quoted, .escaped: return ASCII.isFieldValue(byte) ? .quoted : nil
        }
    }
}
