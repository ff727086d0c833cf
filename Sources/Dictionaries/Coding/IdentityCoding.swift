/// An encoder that copies.
final class IdentityEncoder: Encoder {
    let coding = ContentCoding.identity
    let memoryBytes = 0

    func encode(_ input: Span<UInt8>, _ directive: EncoderDirective, into output: inout [UInt8]) {
        output.append(copying: input)
    }
}

/// A decoder that copies, within the limits.
final class IdentityDecoder: DecoderEngine {
    let coding = ContentCoding.identity
    let hasMore = false
    let memoryBytes = 0
    let memoryBytesMax = 0

    func step(_ input: Span<UInt8>, room: Int, into output: inout [UInt8]) -> Int {
        let count = min(input.count, room)
        output.append(copying: input.extracting(0..<count))
        return count
    }

    func finish() {}
}
