/// One library's decoder, a step at a time; what all of them heed is in `CheckedDecoder`.
///
/// Not Sendable, one owner at a time.
protocol DecoderEngine: AnyObject {
    /// The coding of the input.
    var coding: ContentCoding { get }

    /// Decodes once, with room for so many bytes behind what `output` has; returns how much of the input was used.
    func step(_ input: Span<UInt8>, room: Int, into output: inout [UInt8]) throws(CodingError) -> Int

    /// Whether the last step had more to write than it had room for.
    var hasMore: Bool { get }

    /// The bytes of memory it holds.
    var memoryBytes: Int { get }

    /// The most that it will hold, as far as what it has read tells.
    var memoryBytesMax: Int { get }

    /// Throws unless the stream is complete.
    func finish() throws(CodingError)
}
