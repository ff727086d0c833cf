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
extension CodingError {
    init(unlinked coding: ContentCoding) {
        self.init(coding, .setup, "this build has no \(coding.token)")
    }
}

final class BrotliDictionary: Sendable {
    let memoryBytes = 0

    init(_ body: Body) throws(CodingError) { throw CodingError(unlinked: .dcb) }
}
#endif
