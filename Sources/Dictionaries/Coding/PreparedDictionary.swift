internal import CZstd

/// A dictionary indexed once for any number of encoders on any threads; nothing changes it after its creation.
package final class PreparedDictionary: Sendable {
    /// The index of one library.
    enum Tables: Sendable {
        case zstd(ZstdDictionary)
        case brotli(BrotliDictionary)
    }

    /// The bytes of the dictionary, to which the index refers.
    package let body: Body
    package let coding: ContentCoding
    /// The bytes of memory that the index holds, without those of the body.
    package let memoryBytes: Int
    let tables: Tables

    /// Indexes a body for a coding over a dictionary; dcb has neither levels nor a hint.
    ///
    /// Takes about 2 ms per MiB for dcz, and for dcb 8 ms for 1 MiB and 130 ms for 4 MiB: too long for an event loop if the
    /// body is large.
    package init(
        _ body: Body, for coding: ContentCoding, level: Int = 3, bodyBytesHint: Int? = nil
    ) throws(CodingError) {
        switch coding {
        case .dcz:
            let index = try ZstdDictionary(body, level: Int32(clamping: level), bodyBytesHint: bodyBytesHint)
            (tables, memoryBytes) = (.zstd(index), index.memoryBytes)
        case .dcb:
            let index = try BrotliDictionary(body)
            (tables, memoryBytes) = (.brotli(index), index.memoryBytes)
        case .identity, .gzip, .br, .zstd: throw CodingError(coding, .setup, "takes no dictionary")
        }
        (self.body, self.coding) = (body, coding)
    }
}

/// A dictionary indexed for libzstd: an owner of a ZSTD_CDict.
// @unchecked proof: nothing changes a ZSTD_CDict after its creation (zstd.h: "can be used by multiple threads").
@safe final class ZstdDictionary: @unchecked Sendable {
    let handle: OpaquePointer
    let memoryBytes: Int
    let level: Int32
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
        self.level = level
        self.body = body
    }

    deinit { unsafe ZSTD_freeCDict(handle) }
}
