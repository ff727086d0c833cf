/// Turns a coded body back, piece by piece; not Sendable, one owner at a time.
///
/// After an error every further call throws. The output is right only once `finish` has returned.
package protocol Decoder: AnyObject {
    /// The coding of the input.
    var coding: ContentCoding { get }

    /// Appends what `input` leads to, at most so many bytes, within the limits; returns how much of it was used.
    ///
    /// Give the rest in the next call, and go on, with nothing to give as well, while `hasMore`. O(count of the output).
    func decode(
        _ input: Span<UInt8>, upTo outputBytes: Int, into output: inout [UInt8]
    ) throws(CodingError) -> Int

    /// Whether input that was used leads to more output.
    var hasMore: Bool { get }

    /// The bytes of memory it holds, for budgets.
    var memoryBytes: Int { get }

    /// The most that it will hold, as far as what it has read tells: mostly the window that the stream asks for.
    var memoryBytesMax: Int { get }

    /// Throws unless the stream is complete and nothing followed it.
    func finish() throws(CodingError)
}

extension Decoder {
    /// Appends to `output` all that `input` leads to, within the limits.
    package func decode(_ input: Span<UInt8>, into output: inout [UInt8]) throws(CodingError) {
        _ = try decode(input, upTo: .max, into: &output)
    }
}
