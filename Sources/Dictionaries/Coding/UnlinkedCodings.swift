extension ContentCoding {
    /// True if this build codes and decodes the coding: on Apple's platforms it has Zstandard alone.
    package var isLinked: Bool {
        #if canImport(CBrotli)
        true
        #else
        switch self {
        case .identity, .zstd, .dcz: true
        case .gzip, .br, .dcb: false
        }
        #endif
    }
}

#if !canImport(CBrotli)
/// A coding whose library is not linked: making an encoder or a decoder of it always throws.
class UnlinkedCoding {
    let coding: ContentCoding
    let memoryBytes = 0
    let memoryBytesMax = 0
    let hasMore = false

    fileprivate init(refusing coding: ContentCoding) throws(CodingError) {
        self.coding = coding
        throw error
    }

    private var error: CodingError { CodingError(coding, .setup, "this build has no \(coding.token)") }

    func encode(_ input: Span<UInt8>, _ directive: EncoderDirective, into output: inout [UInt8])
        throws(CodingError)
    {
        throw error
    }

    func step(_ input: Span<UInt8>, capacity: Int, into output: inout [UInt8]) throws(CodingError) -> Int {
        throw error
    }

    func finish() throws(CodingError) { throw error }
}

final class BrotliEncoder: UnlinkedCoding, Encoder {
    init(_ coding: ContentCoding, options: EncoderOptions) throws(CodingError) {
        try super.init(refusing: coding)
    }

    static func memoryEstimate(options: EncoderOptions) -> Int { 0 }
}

final class BrotliDecoder: UnlinkedCoding, DecoderEngine {
    init(_ coding: ContentCoding, dictionary: Body?) throws(CodingError) { try super.init(refusing: coding) }
}

final class BrotliDictionary: Sendable {
    let memoryBytes = 0

    init(_ body: Body) throws(CodingError) { throw CodingError(.dcb, .setup, "this build has no dcb") }
}

final class GzipEncoder: UnlinkedCoding, Encoder {
    static let memoryBytesMax = 0

    init(options: EncoderOptions) throws(CodingError) { try super.init(refusing: .gzip) }
}

final class GzipDecoder: UnlinkedCoding, DecoderEngine {
    init() throws(CodingError) { try super.init(refusing: .gzip) }
}
#endif
