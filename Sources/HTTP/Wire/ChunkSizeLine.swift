/// Reads the line before the data of a chunk, byte by byte (RFC 9112 section 7.1).
///
///     chunk-size [ chunk-ext ] CRLF
///     chunk-ext = *( BWS ";" BWS chunk-ext-name [ BWS "=" BWS chunk-ext-val ] )
///
/// Extensions must be well formed and are dropped.
struct ChunkSizeLine: Sendable {
    private enum Part {
        case size, blanksBeforeSemicolon, blanksBeforeName, name, blanksAfterName
        case blanksBeforeValue, value, quoted, escaped, valueEnd, lineFeed
    }

    /// The size of the chunk, once the line is complete.
    private(set) var size: UInt64 = 0
    /// The number of extension bytes on this line.
    private(set) var extensionBytes = 0
    private var digits = 0
    private var part = Part.size

    // 60 bits, so that no sum of a size and another number overflows.
    private static let digitsMax = 15

    /// Takes the next byte; returns true once the line is complete.
    mutating func take(_ byte: UInt8, extensionBytesMax: Int) throws(ParseError) -> Bool {
        if part == .lineFeed {
            guard byte == ASCII.lineFeed else { throw .bareCarriageReturn }
            return true
        }
        if byte == ASCII.lineFeed { throw .bareLineFeed }
        if byte == ASCII.carriageReturn {
            try endLine()
        } else if part == .size {
            try takeSize(byte, extensionBytesMax)
        } else {
            try takeExtension(byte, extensionBytesMax)
        }
        return false
    }

    private mutating func endLine() throws(ParseError) {
        switch part {
        case .size where digits > 0, .name, .value, .valueEnd: part = .lineFeed
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
            part = .blanksBeforeSemicolon
            try takeExtension(byte, extensionBytesMax)
        }
    }

    private mutating func takeExtension(_ byte: UInt8, _ bytesMax: Int) throws(ParseError) {
        guard extensionBytes < bytesMax else { throw .chunkExtensionTooLong }
        extensionBytes += 1
        guard let next = Self.part(after: part, byte) else { throw .malformedChunkExtension }
        part = next
    }

    private static func part(after part: Part, _ byte: UInt8) -> Part? {
        let isToken = ASCII.isToken(byte)
        let isBlank = ASCII.isBlank(byte)
        switch part {
        case .size, .lineFeed: return nil
        case .blanksBeforeSemicolon:
            return isBlank ? part : byte == ASCII.semicolon ? .blanksBeforeName : nil
        case .blanksBeforeName: return isBlank ? part : isToken ? .name : nil
        case .name where isToken: return .name
        case .name, .blanksAfterName:
            if byte == ASCII.equals { return .blanksBeforeValue }
            return isBlank ? .blanksAfterName : byte == ASCII.semicolon ? .blanksBeforeName : nil
        case .blanksBeforeValue:
            if byte == ASCII.quote { return .quoted }
            return isBlank ? part : isToken ? .value : nil
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
