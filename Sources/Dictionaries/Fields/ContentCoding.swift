internal import Primitives

/// A content coding that Dictum implements (RFC 9110 section 8.4.1, RFC 9842 sections 4 and 5).
///
/// In rising order of what they save. A new one is added here, in `Codec`, `CodingLevels` and `AcceptEncoding`, and has a file
/// of its own beside those: most other code asks the lists and the properties, and their switches do not compile without it.
/// Code that names single codings does; `grep -rnE '\.(gzip|br|zstd|dcb|dcz)\b' Sources` finds it.
package enum ContentCoding: String, CaseIterable, Sendable {
    /// The body without any coding.
    case identity
    /// gzip (RFC 1952); `x-gzip` is the same.
    case gzip
    /// Brotli (RFC 7932).
    case br
    /// Zstandard (RFC 8878) with the window of RFC 9659.
    case zstd
    /// Brotli over a dictionary (RFC 9842 section 4).
    case dcb
    /// Zstandard over a dictionary (RFC 9842 section 5).
    case dcz

    /// Reads the lines of Content-Encoding as a client does; nil for another coding, and for several.
    ///
    /// Several codings are possible, but no server applies them on purpose.
    package init?(contentEncoding lines: [String]) {
        let applied = Self.applied(contentEncoding: lines)
        guard applied.count < 2, let coding = applied.first ?? .identity else { return nil }
        self = coding
    }

    /// Returns the codings that the lines of Content-Encoding name, in their order; nil for one that is not known.
    package static func applied(contentEncoding lines: [String]) -> [ContentCoding?] {
        names(contentEncoding: lines).map { ContentCoding(rawValue: $0 == "x-gzip" ? gzip.token : $0) }
    }

    /// Returns the names in the lines of Content-Encoding, in lower case and in their order, without identity.
    package static func names(contentEncoding lines: [String]) -> [String] {
        // RFC 9110 section 8.4.1: names are case-insensitive. Identity ought not to be sent, and means nothing.
        lines.flatMap { $0.split(separator: ",") }
            .map { $0.trimmed.lowercased() }
            .filter { !$0.isEmpty && $0 != identity.token }
    }

    /// All codings but identity, the one that saves most first.
    package static let preferred = Array(allCases.reversed().filter { $0 != .identity })
    /// The codings without a dictionary.
    package static let plain = preferred.filter { !$0.usesDictionary }
    package static let overDictionary = preferred.filter(\.usesDictionary)

    /// The name in Content-Encoding and Accept-Encoding.
    package var token: String { rawValue }

    /// True if a body in this coding can be decoded only with a dictionary.
    package var usesDictionary: Bool {
        switch self {
        case .dcb, .dcz: true
        case .identity, .gzip, .br, .zstd: false
        }
    }

    /// The bytes before the dictionary's digest at the start of a body (RFC 9842 sections 4 and 5).
    var magic: [UInt8] {
        switch self {
        case .dcb: [0xff, 0x44, 0x43, 0x42]
        // A Zstandard skippable frame of 32 bytes.
        case .dcz: [0x5e, 0x2a, 0x4d, 0x18, 0x20, 0x00, 0x00, 0x00]
        case .identity, .gzip, .br, .zstd: []
        }
    }

    /// True if coding over a dictionary that is not indexed takes less time than to index it.
    package var isQuickByReference: Bool {
        switch self {
        case .dcz: true
        // brotli indexes the dictionary for each such encoder.
        case .dcb: false
        case .identity, .gzip, .br, .zstd: false
        }
    }

    /// The position among all codings.
    ///
    /// Codings are compared and hashed by it. Comparing by name, as Swift does for such types, takes ten times as
    /// long.
    package var index: Int {
        switch self {
        case .identity: 0
        case .gzip: 1
        case .br: 2
        case .zstd: 3
        case .dcb: 4
        case .dcz: 5
        }
    }

    package static func == (one: ContentCoding, other: ContentCoding) -> Bool { one.index == other.index }

    package func hash(into hasher: inout Hasher) { hasher.combine(index) }
}

package enum UpstreamCoding: Equatable, Sendable {
    case none
    /// One coding that Dictum can undo: gzip, br or zstd.
    case known(ContentCoding)
    /// Another coding or several: the body must stay unchanged.
    case foreign

    package init(contentEncoding lines: [String]) {
        switch ContentCoding(contentEncoding: lines) {
        case .identity?: self = .none
        case let coding? where !coding.usesDictionary: self = .known(coding)
        default: self = .foreign
        }
    }
}
