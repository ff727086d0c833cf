/// A content coding that Dictum implements (RFC 9110 section 8.4.1, RFC 9842 sections 4 and 5).
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

    /// The name in Content-Encoding and Accept-Encoding.
    package var token: String { rawValue }

    /// True if a body in this coding can be decoded only with a dictionary.
    package var usesDictionary: Bool {
        switch self {
        case .dcb, .dcz: true
        case .identity, .gzip, .br, .zstd: false
        }
    }

    /// The position among all codings.
    ///
    /// Codings are compared and hashed by it. Comparing by name, as Swift does for such types, takes ten times as
    /// long.
    package var place: Int {
        switch self {
        case .identity: 0
        case .gzip: 1
        case .br: 2
        case .zstd: 3
        case .dcb: 4
        case .dcz: 5
        }
    }

    /// Compares the positions.
    package static func == (one: ContentCoding, other: ContentCoding) -> Bool { one.place == other.place }

    /// Hashes the position.
    package func hash(into hasher: inout Hasher) { hasher.combine(place) }
}

/// The bytes at the start of a dictionary-coded body (RFC 9842 sections 4 and 5): a magic number, then the digest.
enum DictionaryHeader {
    /// Returns the header of `coding` for a dictionary; empty for codings without one.
    static func bytes(for coding: ContentCoding, digest: Digest) -> [UInt8] {
        magic(of: coding) + (coding.usesDictionary ? digest.bytes : [])
    }

    private static func magic(of coding: ContentCoding) -> [UInt8] {
        switch coding {
        case .dcb: [0xff, 0x44, 0x43, 0x42]
        // A Zstandard skippable frame of 32 bytes.
        case .dcz: [0x5e, 0x2a, 0x4d, 0x18, 0x20, 0x00, 0x00, 0x00]
        case .identity, .gzip, .br, .zstd: []
        }
    }
}
