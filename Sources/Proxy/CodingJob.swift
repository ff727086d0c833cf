internal import Dictionaries
internal import HTTP

/// The work on a whole body: find out what it is, and code it.
///
/// Runs on any thread.
struct CodingJob: Sendable {
    /// Bodies up to this size are worked on by the loop itself: a hop to another thread would cost more.
    static let inlineBytesMax = 16 * 1024

    let bytes: [UInt8]
    /// The newest version of the same URL and variant, to compare with before hashing.
    let newest: Body?
    /// Whether the body's digest is needed: to admit it, or to make its entity tag.
    let needsDigest: Bool
    let coding: ContentCoding
    let dictionary: Body?
    /// The dictionaries that all share; nil for one of a private chain, which nobody else's answer may make faster.
    let preparedDictionaries: PreparedDictionaries?

    /// Whether the work is so little that the loop itself may do it; indexing a dictionary counts, too.
    var isSmall: Bool {
        guard bytes.count <= Self.inlineBytesMax else { return false }
        guard let dictionary, bytes.count + dictionary.count > Self.inlineBytesMax else { return true }
        return preparedDictionaries?.prepared(dictionary, for: coding) != nil
    }

    /// What came of it.
    struct Result: Sendable {
        /// The body with its digest, where that was needed.
        let body: Body?
        /// Whether it is the newest version once more.
        let isNewest: Bool
        /// The coded bytes; nil for identity and where coding failed or gained nothing.
        let coded: [UInt8]?
        let error: CodingError?
        let nanoseconds: Int
    }

    func run() -> Result {
        let start = Clock.monotonicNanoseconds
        // Comparing costs a fifth of hashing, and most answers are what they were.
        let isNewest = newest?.hasBytes(bytes) ?? false
        let body = isNewest ? newest : needsDigest ? Body(bytes) : nil
        var coded: [UInt8]?
        var failure: CodingError?
        if coding != .identity {
            do throws(CodingError) {
                coded = try code()
            } catch {
                failure = error
            }
        }
        if let size = coded?.count, size >= bytes.count { coded = nil }
        return Result(
            body: body, isNewest: isNewest, coded: coded, error: failure,
            nanoseconds: Int(Clock.monotonicNanoseconds - start))
    }

    private func code() throws(CodingError) -> [UInt8] {
        var options = EncoderOptions(bodyBytes: bytes.count)
        if let dictionary {
            options.dictionary =
                try preparedDictionaries?.use(dictionary, for: coding) ?? .reference(dictionary)
        }
        return try Codec.encode(bytes.span, coding, options: options)
    }
}
