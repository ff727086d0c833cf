/// Turns one body into one coding, piece by piece; not Sendable, one owner at a time.
///
/// After an error, and after `.end`, every further call throws: nothing may be sent after a failure
/// (browsers take a stream that ends early for a whole one).
package protocol Encoder: AnyObject {
    /// The coding of the output.
    var coding: ContentCoding { get }
    /// The bytes of memory this encoder holds now, the dictionary's own aside.
    var memoryBytes: Int { get }

    /// Appends to `output` what `input` leads to; O(count), the coding's own header first.
    func encode(
        _ input: Span<UInt8>, _ directive: EncoderDirective, into output: inout [UInt8]
    ) throws(CodingError)
}

/// What the end of an input means.
package enum EncoderDirective: Sendable {
    /// More is coming: the encoder may keep bytes back.
    case more
    /// More is coming, but the peer must be able to decode everything given so far.
    case flush
    /// The body ends here.
    case end
}
