internal import CZstd

/// What encoder, decoder and dictionaries share of libzstd.
enum Zstd {
    /// Throws if a return value of the library is an error; returns it otherwise.
    @discardableResult
    static func check(_ code: Int, _ coding: ContentCoding, _ stage: CodingError.Stage) throws(CodingError)
        -> Int
    {
        guard ZSTD_isError(code) == 0 else {
            // Safe: the library returns static text.
            throw CodingError(coding, stage, unsafe String(cString: ZSTD_getErrorName(code)))
        }
        return code
    }
}
