/// What an encoder should know before the first byte.
package struct EncoderOptions: Sendable {
    /// The length of the whole body if it is known; an encoder given another number of bytes throws.
    package var bodyBytes: Int?
    /// How much work the result is worth.
    package var effort: Effort
    /// The dictionary; required for dcb and dcz, refused for the rest.
    package var dictionary: DictionaryUse?
    /// The level of a live encoder without a dictionary; nil for the one that suits the body's length.
    package var level: Int?

    /// Gathers the options; unknown length, live, no dictionary unless said otherwise.
    package init(
        bodyBytes: Int? = nil, effort: Effort = .live, dictionary: DictionaryUse? = nil, level: Int? = nil
    ) {
        self.bodyBytes = bodyBytes
        self.effort = effort
        self.dictionary = dictionary
        self.level = level
    }

    /// The level of gzip; nil for the usual one.
    var gzipLevel: Int32? {
        switch effort {
        case .fast: 1
        case .live: level.map(Int32.init)
        case .kept: 9
        }
    }

    /// The quality of brotli.
    ///
    /// Never below 5 with a dictionary, which the lower ones ignore without an error.
    var brotliQuality: Int {
        if effort == .kept { return 11 }
        guard dictionary == nil, effort == .live else { return CodingLevels.brotli }
        return level ?? CodingLevels.brotli
    }

    /// The level of Zstandard.
    var zstdLevel: Int32 {
        guard effort == .live, dictionary == nil else { return effort.zstdLevel }
        return Int32(level ?? CodingLevels.zstd(bodyBytes: bodyBytes))
    }
}

/// How much work a coded body is worth.
package enum Effort: Sendable, CaseIterable {
    /// Clients are waiting, and there is no time.
    case fast
    /// A client is waiting.
    case live
    /// The result is stored and sent many times.
    case kept

    /// The level of Zstandard over a dictionary.
    var zstdLevel: Int32 {
        switch self {
        case .fast: 1
        case .live: 3
        case .kept: 19
        }
    }
}

/// A dictionary as an encoder gets it.
package enum DictionaryUse: Sendable {
    /// The bytes alone: indexed anew for this one body.
    case reference(Body)
    /// Indexed before, for any number of bodies at once.
    case prepared(PreparedDictionary)

    /// The dictionary's bytes and digest.
    package var body: Body {
        switch self {
        case .reference(let body): body
        case .prepared(let prepared): prepared.body
        }
    }
}
