/// Which coding and which window suit a dictionary and a body; pure functions.
package enum DictionaryFit {
    /// The largest window that every dcz and zstd client accepts: 8 MiB (RFC 9659 section 3; Firefox, whatever
    /// RFC 9842 section 5 allows for large dictionaries).
    static let zstdWindowLogMax = 23

    /// RFC 9842 section 5: no window, and so no use of a dictionary, beyond 128 MB.
    static let dczDictionaryBytesMax = 128 << 20

    // Without the large-window format a brotli distance reaches 64 MiB, of which the window takes up to 16.
    static let dcbDictionaryBytesMax = 32 << 20

    /// Whether dcz can use this dictionary for this body.
    ///
    /// A Zstandard dictionary is in reach only until the body outgrows the window (RFC 8878 section 5), so the
    /// body's length must be known and within the largest window.
    package static func dczIsPossible(dictionaryBytes: Int, bodyBytes: Int?) -> Bool {
        guard let bodyBytes, 1...dczDictionaryBytesMax ~= dictionaryBytes else { return false }
        return bodyBytes <= 1 << zstdWindowLogMax
    }

    /// Whether dcb can use this dictionary; the body may have any length, known or not.
    package static func dcbIsPossible(dictionaryBytes: Int) -> Bool {
        1...dcbDictionaryBytesMax ~= dictionaryBytes
    }

    /// Whether dcb should be taken where the client accepts both.
    ///
    /// Firefox takes a dictionary that begins with Zstandard's own magic number for a formatted one and fails.
    package static func prefersDcb(dictionary: Body) -> Bool {
        dictionary.bytes.starts(with: [0x37, 0xa4, 0x30, 0xec])
    }

    /// The window for Zstandard, 10 to 23: covers dictionary and body where that is possible.
    ///
    /// The memory of a context follows it, so it is not simply the largest.
    package static func zstdWindowLog(dictionaryBytes: Int, bodyBytes: Int?) -> Int {
        guard let bodyBytes else { return dictionaryBytes > 0 ? zstdWindowLogMax : 20 }
        return clamp(bitsCovering(dictionaryBytes, bodyBytes), 10...zstdWindowLogMax)
    }

    /// The window for brotli, 16 to 24: the smallest that covers the body; a dictionary is always in reach.
    ///
    /// Without a dictionary at least 18: below, the library takes tables that cost 5 to 8 % more time.
    /// For an unknown length the dictionary is the best guess, at most 22: an encoder's memory follows it.
    package static func brotliWindow(bodyBytes: Int?, dictionaryBytes: Int) -> Int {
        // RFC 7932 section 9.1: a window of n bits has 2^n - 16 bytes.
        if let bodyBytes {
            return clamp(bitsCovering(bodyBytes, 16), dictionaryBytes > 0 ? 16...24 : 18...24)
        }
        return dictionaryBytes > 0 ? clamp(bitsCovering(dictionaryBytes, dictionaryBytes), 18...22) : 20
    }

    /// The smallest n with 2^n >= the sum; a Content-Length may be any Int, so the sum must not trap.
    private static func bitsCovering(_ count: Int, _ other: Int) -> Int {
        let (sum, overflow) = count.addingReportingOverflow(other)
        if overflow { return Int.bitWidth }
        return sum <= 1 ? 0 : Int.bitWidth - (sum - 1).leadingZeroBitCount
    }

    private static func clamp(_ value: Int, _ range: ClosedRange<Int>) -> Int {
        min(max(value, range.lowerBound), range.upperBound)
    }
}
