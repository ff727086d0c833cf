/// Decodes one body, piece by piece; not Sendable, one owner at a time.
///
/// After an error every further call throws. The output is known to be whole only once `finish` has returned.
package protocol Decoder: AnyObject {
    /// The coding of the input.
    var coding: ContentCoding { get }

    /// Appends at most `outputBytes` decoded bytes, within the limits; returns the number of input bytes used.
    ///
    /// The next call continues with the rest of the input. While `hasMore`, call again even without any input.
    /// O(count of the output).
    func decode(
        _ input: Span<UInt8>, upTo outputBytes: Int, into output: inout [UInt8]
    ) throws(CodingError) -> Int

    /// True while input that was used leads to more output.
    var hasMore: Bool { get }

    /// The bytes of memory that it holds, for budgets.
    var memoryBytes: Int { get }

    /// An upper bound of the bytes that it will hold, as far as the input read so far tells: mostly the window of
    /// the stream.
    var memoryBytesMax: Int { get }

    /// Throws unless the stream is complete and nothing followed it.
    func finish() throws(CodingError)
}

extension Decoder {
    /// Appends all decoded bytes that `input` leads to, within the limits.
    package func decode(_ input: Span<UInt8>, into output: inout [UInt8]) throws(CodingError) {
        _ = try decode(input, upTo: .max, into: &output)
    }
}
