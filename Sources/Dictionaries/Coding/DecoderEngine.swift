/// One library's decoder, one step at a time; `CheckedDecoder` has the rules of all codings.
///
/// Not Sendable, one owner at a time.
protocol DecoderEngine: AnyObject {
    /// The coding of the input.
    var coding: ContentCoding { get }

    /// Decodes once, with room for `room` bytes behind those of `output`; returns the number of input bytes used.
    func step(_ input: Span<UInt8>, room: Int, into output: inout [UInt8]) throws(CodingError) -> Int

    /// True if the last step had more output than room.
    var hasMore: Bool { get }

    var memoryBytes: Int { get }

    /// An upper bound of the bytes that it will hold, as far as the input read so far tells.
    var memoryBytesMax: Int { get }

    /// Throws unless the stream is complete.
    func finish() throws(CodingError)
}
