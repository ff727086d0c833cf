/// Codes one body, piece by piece; not Sendable, one owner at a time.
///
/// After an error, and after `.end`, every further call throws. Nothing may be sent after a failure, since browsers
/// take a stream that ends early for a whole one.
package protocol Encoder: AnyObject {
    /// The coding of the output.
    var coding: ContentCoding { get }
    /// The bytes of memory that the encoder holds now, without the dictionary's own.
    var memoryBytes: Int { get }

    /// Appends the coded bytes that `input` leads to, behind the coding's header at the start; O(count).
    func encode(
        _ input: Span<UInt8>, _ directive: EncoderDirective, into output: inout [UInt8]
    ) throws(CodingError)
}

/// The meaning of the end of an input.
package enum EncoderDirective: Sendable {
    /// More input follows, and the encoder may keep bytes back.
    case more
    /// More input follows, but the peer must be able to decode everything so far.
    case flush
    /// The body ends here.
    case end
}
