/// The check that a delta is exact; a pure function.
package enum DeltaCheck {
    /// Returns true if a coded body decodes to exactly the body; O(count), most of it copying.
    package static func isExact(
        _ coded: [UInt8], _ coding: ContentCoding, dictionary: Body, body: [UInt8]
    ) -> Bool {
        var limits = DecoderLimits(maxBytes: body.count, maxRatio: .max)
        // In one step, since the decoder then needs no window of its own.
        limits.stepBytes = body.count + 1
        let decoded = try? Codec.decode(coded.span, coding, dictionary: dictionary, limits: limits)
        return decoded.map { ByteComparison.areEqual($0, body) } ?? false
    }
}
