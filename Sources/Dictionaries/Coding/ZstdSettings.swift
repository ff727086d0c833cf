internal import CZstd

/// The parameters of one Zstandard frame, chosen by the known facts of body and dictionary.
struct ZstdSettings {
    private(set) var level: Int32
    private(set) var windowLog: Int
    private(set) var usesLongDistanceMatching = false
    /// The size of the match tables, if the level's own does not suit the dictionary.
    private(set) var hashLog: Int?
    private let bodyBytes: Int?
    private let dictionaryBytes: Int

    // Long-distance matching pays from this length on.
    private static let largeBytes = 1 << 20

    /// The assumed length of a body of unknown length, for the size of the tables: twice as much saves 1 % more of
    /// the bytes and takes twice the memory.
    private static let streamBytes = 128 << 10

    init(options: EncoderOptions) {
        dictionaryBytes = options.dictionary?.body.count ?? 0
        level = options.zstdLevel
        bodyBytes = options.bodyBytes
        windowLog = DictionaryFit.zstdWindowLog(
            dictionaryBytes: dictionaryBytes, bodyBytes: options.bodyBytes,
            isEventStream: options.isEventStream)
        switch options.dictionary {
        case nil:
            break
        case .prepared(let prepared):
            // The prepared tables decide; this is for the estimate of memory.
            if case .zstd(let tables) = prepared.tables { level = tables.level }
            hashLog = Self.hashLog(level: level, dictionaryBytes: prepared.body.count)
        case .reference:
            // Long-distance matching indexes a whole prefix, whatever the size of the tables. If both are small it
            // only costs time.
            let bothAreLarge = min(dictionaryBytes, options.bodyBytes ?? dictionaryBytes) > Self.largeBytes
            usesLongDistanceMatching = options.effort == .kept || bothAreLarge
            if !usesLongDistanceMatching && dictionaryBytes > Self.largeBytes {
                hashLog = Self.hashLog(level: level, dictionaryBytes: dictionaryBytes)
            }
        }
    }

    /// Chooses the settings of an index for many bodies, by default as long as the dictionary.
    init(level: Int32, dictionaryBytes: Int, bodyBytesHint: Int?) {
        let bodyBytes = max(dictionaryBytes, bodyBytesHint ?? 16 << 10)
        self.level = level
        self.bodyBytes = bodyBytes
        self.dictionaryBytes = dictionaryBytes
        windowLog = DictionaryFit.zstdWindowLog(dictionaryBytes: dictionaryBytes, bodyBytes: bodyBytes)
        // The tables for the body get the size of the dictionary's.
        hashLog = Self.hashLog(level: level, dictionaryBytes: bodyBytes)
    }

    /// Returns the size of the tables that index a dictionary; nil if the level's own is right.
    ///
    /// They have a quarter of an entry per byte, or one per byte for levels that search longer. libzstd from 1.5.5 on indexes only the last 8 << hashLog bytes, so
    /// that the tables of low levels are too small for a large dictionary: a 4 MB body identical to its dictionary
    /// took 2.9 MB. For a small dictionary they are ten times its size and gain 1 %. The tables of high levels are
    /// large.
    private static func hashLog(level: Int32, dictionaryBytes: Int) -> Int? {
        guard level < 16 else { return nil }
        let sizeLog = Int.bitWidth - max(dictionaryBytes - 1, 0).leadingZeroBitCount
        return min(max(level < 6 ? sizeLog - 2 : sizeLog, 10), 22)
    }

    /// Calls `set` with each parameter and its value, the level first, because it resets others.
    func forEach(_ set: (ZSTD_cParameter, Int32) throws(CodingError) -> Void) throws(CodingError) {
        try set(ZSTD_c_compressionLevel, level)
        // RFC 9659 section 3, RFC 9842 section 5: the level never decides, and long-distance matching alone would
        // announce 128 MiB.
        try set(ZSTD_c_windowLog, Int32(windowLog))
        if isPlainStream { try set(dictum_zstd_c_src_size_hint(), Int32(Self.streamBytes)) }
        try setLongDistanceMatching(set)
        // With a checksum, a client that has other bytes under the right digest notices.
        try set(ZSTD_c_checksumFlag, 1)
        // Chromium refuses a frame of more than 8 MiB that states its size and no window; smaller frames may state
        // it.
        try set(ZSTD_c_contentSizeFlag, (bodyBytes ?? .max) <= 1 << DictionaryFit.zstdWindowLogMax ? 1 : 0)
        // Raw content has no identifier (RFC 8878 section 5).
        try set(ZSTD_c_dictIDFlag, 0)
        // The tables of a prepared dictionary are searched in place, for bodies of any size. Copying them first
        // took 1.3 to 3.5 times as long for the same bytes (1.5.4 and 1.5.7, 11 KB to 6 MB).
        try set(dictum_zstd_c_force_attach_dict(), 1)
        if let hashLog {
            try set(ZSTD_c_hashLog, Int32(hashLog))
            try set(ZSTD_c_chainLog, Int32(hashLog - 1))
        }
    }

    private func setLongDistanceMatching(
        _ set: (ZSTD_cParameter, Int32) throws(CodingError) -> Void
    ) throws(CodingError) {
        try set(ZSTD_c_enableLongDistanceMatching, Int32(usesLongDistanceMatching ? 1 : 2))
        guard usesLongDistanceMatching else { return }
        // One entry per 128 bytes of window. The library never chooses: 1.5.4 divides by the zero that stands for
        // its own choice when it estimates memory, and later versions choose otherwise.
        try set(ZSTD_c_ldmHashLog, Int32(max(windowLog - 7, 6)))
        try set(ZSTD_c_ldmMinMatch, 64)
        try set(ZSTD_c_ldmBucketSizeLog, 3)
        try set(ZSTD_c_ldmHashRateLog, 7)
    }

    /// The peak memory of a context with these settings, by the library's own count.
    var memoryEstimate: Int {
        // On failure (memory exhausted) the estimate is too large for any budget.
        guard let parameters = unsafe ZSTD_createCCtxParams() else { return Int.max }
        // Safe: owned by this function.
        defer { unsafe ZSTD_freeCCtxParams(parameters) }
        do throws(CodingError) {
            try unsafe apply(to: parameters, for: .zstd)
            // The tables for a prefix and the body behind it follow the length of both.
            if let bodyBytes {
                let bytes = max(1, min(bodyBytes, Int(Int32.max)) + min(dictionaryBytes, Int(Int32.max)))
                try unsafe set(dictum_zstd_c_src_size_hint(), bytes, on: parameters, for: .zstd)
            }
        } catch {
            return Int.max
        }
        let bytes = unsafe ZSTD_estimateCStreamSize_usingCCtxParams(parameters)
        // With a prefix and a body of unknown length, the library takes up to 1 % more than it says.
        return ZSTD_isError(bytes) == 0 ? bytes + bytes / 64 + ZstdContext.outputBytes : Int.max
    }

    /// Sets every parameter, and the length of the body if known.
    @unsafe func apply(to parameters: OpaquePointer, for coding: ContentCoding) throws(CodingError) {
        try forEach { (parameter, value) throws(CodingError) in
            try unsafe set(parameter, Int(value), on: parameters, for: coding)
        }
        if let bodyBytes {
            try unsafe set(dictum_zstd_c_src_size_hint(), bodyBytes, on: parameters, for: coding)
        }
    }

    private var isPlainStream: Bool { bodyBytes == nil && dictionaryBytes == 0 }

    @unsafe private func set(
        _ parameter: ZSTD_cParameter, _ value: Int, on parameters: OpaquePointer, for coding: ContentCoding
    ) throws(CodingError) {
        let code = unsafe ZSTD_CCtxParams_setParameter(parameters, parameter, Int32(clamping: value))
        try Zstd.check(code, coding, .setup)
    }
}
