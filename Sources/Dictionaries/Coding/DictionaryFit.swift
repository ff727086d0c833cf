/// The rules for which coding and which window suit a dictionary and a body; pure functions.
package enum DictionaryFit {
    /// The largest window that every dcz and zstd client accepts: 8 MiB (RFC 9659 section 3).
    ///
    /// RFC 9842 section 5 allows more for large dictionaries, but Firefox does not.
    static let zstdWindowLogMax = 23

    /// The largest body of dcz: up to this length the whole dictionary stays in reach (RFC 9842 section 5).
    static let dczBodyBytesMax = 1 << zstdWindowLogMax

    /// The bytes of former events that stay in reach of an event, at least.
    private static let eventBytesInReach = 128 << 10

    /// The largest dictionary: without the large-window format a brotli distance reaches 64 MiB, and the window takes up to 16
    /// of them; dcz ends at 128 MB (RFC 9842 section 5).
    package static let dictionaryBytesMax = 32 << 20

    /// Returns true if dcz can use this dictionary for this body.
    ///
    /// A Zstandard dictionary is in reach only until the body outgrows the window (RFC 8878 section 5). So the
    /// length of the body must be known and fit into the largest window.
    package static func dczIsPossible(dictionaryBytes: Int, bodyBytes: Int?) -> Bool {
        guard let bodyBytes, 1...dictionaryBytesMax ~= dictionaryBytes else { return false }
        return bodyBytes <= dczBodyBytesMax
    }

    /// Returns true if dcb can use this dictionary; the body may have any length, known or unknown.
    package static func dcbIsPossible(dictionaryBytes: Int) -> Bool {
        1...dictionaryBytesMax ~= dictionaryBytes
    }

    /// Returns true if dcb is better than dcz for this dictionary.
    ///
    /// Firefox reads a dictionary that begins with Zstandard's magic number as a formatted one, and fails.
    package static func prefersDcb(dictionary: Body) -> Bool {
        dictionary.bytes.starts(with: [0x37, 0xa4, 0x30, 0xec])
    }

    /// Returns the window for Zstandard, 10 to 23, which covers dictionary and body if possible.
    ///
    /// It is not simply the largest, since the memory of a context follows it. An event resembles the events before it
    /// more than the dictionary, so that a stream of them needs no window that keeps the dictionary in reach to its end.
    package static func zstdWindowLog(
        dictionaryBytes: Int, bodyBytes: Int?, isEventStream: Bool = false
    ) -> Int {
        let assumedBytes = isEventStream ? max(dictionaryBytes, eventBytesInReach) : nil
        guard let bodyBytes = bodyBytes ?? assumedBytes else {
            return dictionaryBytes > 0 ? zstdWindowLogMax : 20
        }
        return clamp(bitsCovering(dictionaryBytes, bodyBytes), 10...zstdWindowLogMax)
    }

    /// Returns the window for brotli, 16 to 24: the smallest that covers the body.
    ///
    /// A dictionary is always in reach.
    ///
    /// Without a dictionary it is at least 18, since smaller windows lead to tables that cost 5 to 8 % more time.
    /// For a body of unknown length the dictionary is the best guess, at most 22, since the memory of an encoder
    /// follows it.
    package static func brotliWindow(bodyBytes: Int?, dictionaryBytes: Int) -> Int {
        // RFC 7932 section 9.1: a window of n bits has 2^n - 16 bytes.
        if let bodyBytes {
            return clamp(bitsCovering(bodyBytes, 16), dictionaryBytes > 0 ? 16...24 : 18...24)
        }
        return dictionaryBytes > 0 ? clamp(bitsCovering(dictionaryBytes, dictionaryBytes), 18...22) : 20
    }

    /// Returns the smallest n with 2^n >= the sum; the sum must not trap, since a Content-Length may be any Int.
    private static func bitsCovering(_ count: Int, _ other: Int) -> Int {
        let (sum, overflow) = count.addingReportingOverflow(other)
        if overflow { return Int.bitWidth }
        return sum <= 1 ? 0 : Int.bitWidth - (sum - 1).leadingZeroBitCount
    }

    private static func clamp(_ value: Int, _ range: ClosedRange<Int>) -> Int {
        min(max(value, range.lowerBound), range.upperBound)
    }
}
