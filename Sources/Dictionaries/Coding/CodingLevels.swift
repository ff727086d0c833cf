/// The levels of the codings without a dictionary: given by the operator, or chosen by the length of the body.
///
/// The choice by length follows measurements of API responses and pages (`Tests/Benchmarks/plain.py`). No coding
/// that is preferred to gzip sends more bytes than `gzip -6` on the whole, and none takes more CPU time. A single body may take
/// some percent more: of 278 other files 18 did, all of them together took 6 % less.
package struct CodingLevels: Sendable, Equatable {
    /// The level of gzip, 1 to 9.
    package var gzip: Int?
    /// The quality of brotli, 1 to 11.
    package var br: Int?
    /// The level of Zstandard, 1 to 19.
    package var zstd: Int?

    /// Makes levels; nil leaves a level to the length of the body.
    package init(gzip: Int? = nil, br: Int? = nil, zstd: Int? = nil) {
        self.gzip = gzip
        self.br = br
        self.zstd = zstd
    }

    /// Returns the level given for a coding; nil leaves it to the length of the body.
    package func given(for coding: ContentCoding) -> Int? {
        switch coding {
        case .gzip: gzip
        case .br: br
        case .zstd: zstd
        case .identity, .dcb, .dcz: nil
        }
    }

    /// Returns the level for a body that an event loop codes piece by piece.
    ///
    /// It is capped, since a higher level would keep the loop's other clients waiting.
    package func givenForStream(_ coding: ContentCoding) -> Int? {
        given(for: coding).map { min($0, Self.quickest(coding)) }
    }

    /// Returns true if the given level takes longer than the levels that are chosen by length.
    package func isSlow(_ coding: ContentCoding) -> Bool {
        given(for: coding).map { $0 > Self.quickest(coding) } ?? false
    }

    /// The level up to which a coding takes no longer than gzip; without one nothing is bounded.
    private static func quickest(_ coding: ContentCoding) -> Int {
        switch coding {
        case .gzip, .zstd: 9
        case .br: brotli
        case .identity, .dcb, .dcz: .max
        }
    }

    // MARK: Chosen by length

    static let brotli = 5
    /// The level of libdeflate for a whole body: 20 to 40 % less time than zlib at level 6, and 1 % fewer bytes.
    static let deflate = 7
    /// The level of zlib for streams and small bodies, for which libdeflate sends up to 5 % more bytes.
    static let zlib = 6
    static let deflateBytesMin = 2 << 10

    static func zstd(bodyBytes: Int?) -> Int {
        guard let bodyBytes else { return 9 }
        switch bodyBytes {
        case ..<(16 << 10): return 6
        case ..<(128 << 10): return 8
        default: return 7
        }
    }

    /// Returns the length from which on a coding is better than gzip.
    ///
    /// Below 24 KiB, Zstandard takes up to 5 % more bytes than gzip, or more time. For small bodies, brotli saves
    /// 10 % of the bytes and takes twice the time. From 128 KiB on, and for lists of JSON from 100 KB on, it takes
    /// less time for every response that was measured.
    static func bytesMin(_ coding: ContentCoding) -> Int {
        switch coding {
        case .zstd: 24 << 10
        case .br: 128 << 10
        case .identity, .gzip, .dcb, .dcz: 0
        }
    }
}

/// The codings that the server prefers, in order, if a client likes them equally.
package struct CodingPreference: Sendable {
    package let codings: [ContentCoding]
    private let levels: CodingLevels

    /// Makes a preference for these codings, which puts gzip first if its output is smaller.
    package init(_ codings: [ContentCoding], levels: CodingLevels = CodingLevels()) {
        self.codings = codings
        self.levels = levels
    }

    /// Returns true if gzip comes before this coding for a body of at least this length.
    ///
    /// A level that the operator gives keeps the coding in its place.
    func yieldsToGzip(_ coding: ContentCoding, bodyBytes: Int) -> Bool {
        levels.given(for: coding) == nil && bodyBytes < CodingLevels.bytesMin(coding)
            && codings.contains(.gzip)
    }
}
