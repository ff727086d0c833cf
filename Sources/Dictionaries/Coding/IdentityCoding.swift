/// The encoder that changes nothing.
final class IdentityEncoder: Encoder {
    let coding = ContentCoding.identity
    let memoryBytes = 0

    func encode(_ input: Span<UInt8>, _ directive: EncoderDirective, into output: inout [UInt8]) {
        output.append(copying: input)
    }
}

/// The decoder that changes nothing but keeps to the limits.
final class IdentityDecoder: Decoder {
    let coding = ContentCoding.identity
    private var budget: DecoderBudget

    init(budget: DecoderBudget) { self.budget = budget }

    func decode(_ input: Span<UInt8>, into output: inout [UInt8]) throws(CodingError) {
        budget.read(input.count)
        try budget.wrote(input.count)
        output.append(copying: input)
    }

    func finish() {}
}
