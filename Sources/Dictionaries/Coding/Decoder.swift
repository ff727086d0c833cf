/// Turns a coded body back, piece by piece; not Sendable, one owner at a time.
///
/// After an error every further call throws. The output is right only once `finish` has returned.
package protocol Decoder: AnyObject {
    /// The coding of the input.
    var coding: ContentCoding { get }

    /// Appends to `output` all that `input` leads to, within the limits; O(count of the output).
    func decode(_ input: Span<UInt8>, into output: inout [UInt8]) throws(CodingError)

    /// Throws unless the stream is complete and nothing followed it.
    func finish() throws(CodingError)
}
