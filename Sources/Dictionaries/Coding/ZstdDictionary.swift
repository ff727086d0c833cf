internal import CZstd

/// A dictionary indexed for libzstd: an owner of a ZSTD_CDict.
// @unchecked proof: nothing changes a ZSTD_CDict after its creation (zstd.h: "can be used by multiple threads").
@safe final class ZstdDictionary: @unchecked Sendable {
    let handle: OpaquePointer
    let memoryBytes: Int
    // The tables point into it.
    private let body: Body

    /// Indexes a body, in about 2 ms per MiB.
    init(_ body: Body, level: Int32, bodyBytesHint: Int?) throws(CodingError) {
        guard let parameters = unsafe ZSTD_createCCtxParams() else {
            throw CodingError(.dcz, .setup, "memory exhausted")
        }
        // Safe: owned by this function.
        defer { unsafe ZSTD_freeCCtxParams(parameters) }
        let settings = ZstdSettings(level: level, dictionaryBytes: body.count, bodyBytesHint: bodyBytesHint)
        try unsafe settings.apply(to: parameters, for: .dcz)
        // By reference, since `self.body` stays. Raw, since libzstd would otherwise take bytes that begin 37 a4 30
        // ec for a formatted dictionary.
        let handle = unsafe ZSTD_createCDict_advanced2(
            body.stableAddress, body.count, ZSTD_dlm_byRef, ZSTD_dct_rawContent, parameters, ZSTD_defaultCMem)
        guard let handle = unsafe handle else {
            throw CodingError(.dcz, .setup, "cannot index the dictionary")
        }
        unsafe self.handle = handle
        unsafe memoryBytes = ZSTD_sizeof_CDict(handle)
        self.body = body
    }

    deinit { unsafe ZSTD_freeCDict(handle) }
}
