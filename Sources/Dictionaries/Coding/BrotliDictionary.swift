internal import CBrotli

/// A dictionary indexed for brotli: an owned BrotliEncoderPreparedDictionary.
///
// @unchecked proof: a prepared dictionary is only read after its creation, by any number of encoders; the count
// of memory changes only in `init` and `deinit`.
@safe final class BrotliDictionary: @unchecked Sendable {
    let handle: OpaquePointer
    private let memory: BrotliMemory
    // The tables point into it.
    private let body: Body

    /// Indexes a body; about 8 ms for a MiB, 30 for 4.
    init(_ body: Body) throws(CodingError) {
        let memory = BrotliMemory()
        // The quality given here has no influence. Safe: `self.body` and `self.memory` outlive the tables.
        let handle = unsafe BrotliEncoderPrepareDictionary(
            BROTLI_SHARED_DICTIONARY_RAW, body.count, body.stableAddress, 11,
            dictum_brotli_allocator(), dictum_brotli_deallocator(), memory.count)
        guard let handle = unsafe handle else {
            throw CodingError(.dcb, .setup, "cannot index the dictionary")
        }
        unsafe self.handle = handle
        self.memory = memory
        self.body = body
    }

    deinit { unsafe BrotliEncoderDestroyPreparedDictionary(handle) }

    var memoryBytes: Int { memory.bytes }

    /// What the index of a dictionary will take that an encoder has to make for itself.
    ///
    /// Fitted to brotli 1.1: 4.13 times the dictionary and 256 KiB, from 16 KB to 32 MB; the tests compare.
    static func memoryEstimate(_ use: DictionaryUse?) -> Int {
        guard case .reference(let body)? = use else { return 0 }
        return body.count * 17 / 4 + 512 << 10
    }
}
