package import Dictionaries

package let roomyLimits = DecoderLimits(maxBytes: 64 << 20, maxRatio: 1_000_000)

extension Corpus {
    /// The dictionary for codings that take one.
    package func dictionary(for coding: ContentCoding) -> Body? {
        coding.usesDictionary ? dictionary : nil
    }

    package func options(_ coding: ContentCoding, effort: Effort = .live, bodyBytes: Int? = nil)
        -> EncoderOptions
    {
        EncoderOptions(
            bodyBytes: bodyBytes, effort: effort,
            dictionary: dictionary(for: coding).map { .reference($0) })
    }

    package func encoded(_ coding: ContentCoding, effort: Effort = .live) throws -> [UInt8] {
        try Codec.encode(body.span, coding, options: options(coding, effort: effort))
    }

    package func decoded(_ coded: [UInt8], _ coding: ContentCoding) throws -> [UInt8] {
        try Codec.decode(coded.span, coding, dictionary: dictionary(for: coding), limits: roomyLimits)
    }
}

extension Encoder {
    /// Codes the next bytes of an array.
    package func encode(_ bytes: [UInt8], _ directive: EncoderDirective) throws(CodingError) -> [UInt8] {
        var output: [UInt8] = []
        try encode(bytes.span, directive, into: &output)
        return output
    }
}

extension Decoder {
    /// Decodes the next bytes of an array.
    package func decode(_ bytes: [UInt8]) throws(CodingError) -> [UInt8] {
        var output: [UInt8] = []
        try decode(bytes.span, into: &output)
        return output
    }
}

/// Cuts bytes into pieces of odd lengths: 1, 3, 7, then growing, so that large bodies stay cheap.
package func oddPieces(_ bytes: [UInt8]) -> [[UInt8]] {
    var pieces: [[UInt8]] = []
    var start = 0
    var length = 1
    while start < bytes.count {
        let end = min(start + length, bytes.count)
        pieces.append(Array(bytes[start..<end]))
        start = end
        length = length * 2 + 1
    }
    return pieces
}
