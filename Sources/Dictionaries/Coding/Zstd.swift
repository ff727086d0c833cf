internal import CZstd

/// The check of libzstd's return values that encoder, decoder and dictionaries share.
enum Zstd {
    /// Returns a return value of the library; throws if it is an error.
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
