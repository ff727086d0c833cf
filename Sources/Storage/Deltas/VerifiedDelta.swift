internal import Dictionaries
internal import Primitives

/// A delta that decodes to exactly the body that its key names.
///
/// A cached delta is never sent for another body, because this type carries the proof from the encoder to the client:
///
/// 1. Its only initializer decodes the coded bytes with a decoder of its own, over the dictionary, and compares the
///    result with the body, byte for byte. So a faulty encoder never leads to a value.
/// 2. Its key has the digests of that very body and dictionary, which `Body` has as the SHA-256 of its bytes.
/// 3. `DeltaCache` takes values of this type only (`DeltaTurn.finish`, `DeltaCache.replace`), and keeps each under its
///    own key.
/// 4. A response is looked up by the digest of its own body and of the dictionary that it would be coded over, with
///    the scope of that dictionary's chain.
///
/// Deltas that are sent only once have no proof: `Verification` draws those that are checked.
package struct VerifiedDelta: Hashable, Sendable {
    package let key: DeltaKey
    package let bytes: [UInt8]

    /// Verifies coded bytes; nil unless they decode to exactly the body.
    init?(
        _ coded: [UInt8], of body: Body, over dictionary: Body, _ coding: ContentCoding, in scope: DeltaScope
    ) {
        guard Self.isExact(coded, coding, dictionary: dictionary, body: body.bytes) else { return nil }
        key = DeltaKey(body: body.digest, dictionary: dictionary.digest, coding: coding, scope: scope)
        bytes = coded
    }

    /// Returns true if a coded body decodes to exactly the body; O(count), most of it copying.
    static func isExact(
        _ coded: [UInt8], _ coding: ContentCoding, dictionary: Body, body: [UInt8]
    ) -> Bool {
        var limits = DecoderLimits(maxBytes: body.count, maxRatio: .max)
        // In one step, since the decoder then needs no window of its own.
        limits.stepBytes = body.count + 1
        let decoded = try? Codec.decode(coded.span, coding, dictionary: dictionary, limits: limits)
        return decoded.map { $0.span.equals(body.span) } ?? false
    }
}
