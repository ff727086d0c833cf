package import Dictionaries
internal import Storage

/// An encoder whose output a test changes, as a broken library would.
package final class FaultyEncoder: Encoder {
    /// A function that changes coded bytes.
    package typealias Fault = @Sendable (inout [UInt8]) -> Void

    private let engine: any Encoder
    private let fault: Fault

    private init(_ engine: any Encoder, _ fault: @escaping Fault) {
        self.engine = engine
        self.fault = fault
    }

    /// Runs `body`, in which new `Deltas` get encoders with the fault; nil for none.
    package static func with<Result>(_ fault: Fault?, _ body: () throws -> Result) rethrows -> Result {
        guard let fault else { return try body() }
        return try Deltas.$fault.withValue({ FaultyEncoder($0, fault) }, operation: body)
    }

    package var coding: ContentCoding { engine.coding }
    package var memoryBytes: Int { engine.memoryBytes }

    package func encode(
        _ input: Span<UInt8>, _ directive: EncoderDirective, into output: inout [UInt8]
    ) throws(CodingError) {
        var piece: [UInt8] = []
        try engine.encode(input, directive, into: &piece)
        if !piece.isEmpty { fault(&piece) }
        output += piece
    }
}
