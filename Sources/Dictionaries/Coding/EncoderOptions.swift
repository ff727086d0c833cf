/// The facts that an encoder needs before the first byte.
package struct EncoderOptions: Sendable {
    /// The length of the whole body, if known; an encoder that gets another number of bytes throws.
    package var bodyBytes: Int?
    package var effort: Effort
    /// The dictionary, which dcb and dcz need and the other codings refuse.
    package var dictionary: DictionaryUse?
    /// The level of a live encoder without a dictionary; nil chooses it by the length of the body.
    package var level: Int?
    /// True if the body is a stream of events, each of which is flushed.
    package var isEventStream = false

    /// Makes options; by default for a live body of unknown length without a dictionary.
    package init(
        bodyBytes: Int? = nil, effort: Effort = .live, dictionary: DictionaryUse? = nil, level: Int? = nil
    ) {
        self.bodyBytes = bodyBytes
        self.effort = effort
        self.dictionary = dictionary
        self.level = level
    }

    /// The level of gzip; nil for the default.
    var gzipLevel: Int32? {
        switch effort {
        case .fast: 1
        case .live: level.map(Int32.init)
        case .kept: 9
        }
    }

    /// The quality of brotli.
    ///
    /// With a dictionary it is never below 5: lower qualities ignore the dictionary without an error.
    var brotliQuality: Int {
        if effort == .kept { return 11 }
        guard dictionary == nil, effort == .live else { return CodingLevels.brotli }
        return level ?? CodingLevels.brotli
    }

    var zstdLevel: Int32 {
        guard effort == .live, dictionary == nil else { return effort.zstdLevel }
        return Int32(level ?? CodingLevels.zstd(bodyBytes: bodyBytes))
    }
}

/// The amount of work that a coded body is worth.
package enum Effort: Sendable, CaseIterable {
    /// Clients wait, and there is no time to spare.
    case fast
    /// A client waits.
    case live
    /// The result is stored and sent many times.
    case kept

    var zstdLevel: Int32 {
        switch self {
        case .fast: 1
        case .live: 3
        case .kept: 19
        }
    }
}

/// A dictionary in the form in which an encoder gets it.
package enum DictionaryUse: Sendable {
    /// The bytes alone: the encoder indexes them for this one body.
    case reference(Body)
    /// An index made before, for any number of bodies at once.
    case prepared(PreparedDictionary)

    package var body: Body {
        switch self {
        case .reference(let body): body
        case .prepared(let prepared): prepared.body
        }
    }
}
