internal import Primitives

/// Codes one body, piece by piece; not Sendable, one owner at a time.
///
/// After an error, and after `.end`, every further call throws. Nothing may be sent after a failure, since browsers
/// take a stream that ends early for a whole one.
package protocol Encoder: AnyObject {
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

/// An encoder with the rules of all codings: the header comes first, the length holds, and no call succeeds after
/// an error.
final class CheckedEncoder: Encoder {
    private let engine: any Encoder
    private var header: [UInt8]
    private let bodyBytes: Int?
    private var givenBytes = 0
    private var isClosed = false

    init(_ engine: any Encoder, header: [UInt8], bodyBytes: Int?) {
        self.engine = engine
        self.header = header
        self.bodyBytes = bodyBytes
    }

    var coding: ContentCoding { engine.coding }
    var memoryBytes: Int { engine.memoryBytes }

    func encode(
        _ input: Span<UInt8>, _ directive: EncoderDirective, into output: inout [UInt8]
    ) throws(CodingError) {
        guard !isClosed else { throw CodingError(coding, .encode, "the encoder has ended or failed before") }
        // The encoder stays closed unless this call succeeds.
        isClosed = true
        try checkLength(adding: input.count, directive)
        output.append(contentsOf: header)
        header = []
        try engine.encode(input, directive, into: &output)
        isClosed = directive == .end
    }

    private func checkLength(adding count: Int, _ directive: EncoderDirective) throws(CodingError) {
        givenBytes += count
        guard let bodyBytes else { return }
        if givenBytes > bodyBytes {
            throw CodingError(coding, .encode, "the body is longer than the \(bodyBytes) bytes announced")
        }
        if directive == .end, givenBytes < bodyBytes {
            throw CodingError(
                coding, .end, "the body has \(givenBytes) bytes, not the \(bodyBytes) announced")
        }
    }
}

/// An encoder that copies.
final class IdentityEncoder: Encoder {
    let coding = ContentCoding.identity
    let memoryBytes = 0

    func encode(_ input: Span<UInt8>, _ directive: EncoderDirective, into output: inout [UInt8]) {
        output.append(input)
    }
}
