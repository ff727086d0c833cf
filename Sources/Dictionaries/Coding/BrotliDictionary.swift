internal import CBrotli

/// A dictionary indexed for brotli: an owner of a BrotliEncoderPreparedDictionary.
// @unchecked proof: any number of encoders read a prepared dictionary, and nothing changes it after its creation;
// the count of memory changes only in `init` and `deinit`.
@safe final class BrotliDictionary: @unchecked Sendable {
    let handle: OpaquePointer
    private let memory: BrotliMemory
    // The tables point into it.
    private let body: Body

    /// Indexes a body, in about 8 ms for 1 MiB and 30 ms for 4 MiB.
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

    /// Returns the bytes of the index that an encoder makes for a dictionary that was not prepared.
    ///
    /// Fitted to brotli 1.1, for 16 KB to 32 MB: 4.13 times the dictionary and 256 KiB. The tests compare both.
    ///
    /// Fitted to brotli 1.1: 4.13 times the dictionary and 256 KiB, from 16 KB to 32 MB; the tests compare.
    static func memoryEstimate(_ use: DictionaryUse?) -> Int {
        guard case .reference(let body)? = use else { return 0 }
        return body.count * 17 / 4 + 512 << 10
    }
}
