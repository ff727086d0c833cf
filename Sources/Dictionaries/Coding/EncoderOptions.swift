/// What an encoder should know before the first byte.
package struct EncoderOptions: Sendable {
    /// The length of the whole body if it is known; an encoder given another number of bytes throws.
    package var bodyBytes: Int?
    /// How much work the result is worth.
    package var effort: Effort
    /// The dictionary; required for dcb and dcz, refused for the rest.
    package var dictionary: DictionaryUse?

    /// Gathers the options; unknown length, live, no dictionary unless said otherwise.
    package init(bodyBytes: Int? = nil, effort: Effort = .live, dictionary: DictionaryUse? = nil) {
        self.bodyBytes = bodyBytes
        self.effort = effort
        self.dictionary = dictionary
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

    var gzipLevel: Int32 {
        switch self {
        case .fast: 1
        case .live: 6
        case .kept: 9
        }
    }

    // Never below 5: brotli ignores an attached dictionary at qualities 0 to 4, without an error.
    var brotliQuality: UInt32 { self == .kept ? 11 : 5 }

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
