internal import Dictionaries

/// Chooses the coding of a response when the pool has no place for the intended one.
enum BusyCoding {
    /// Level 1 of zstd takes 3 µs per KiB: at most 0.2 ms on the loop.
    static let zstdBytesMax = 64 << 10
    /// Level 1 of gzip takes 10 µs per KiB.
    static let gzipBytesMax = 16 << 10

    /// Returns the best coding that the loop can make quickly, or identity.
    static func quick(accept: AcceptEncoding, codings: [ContentCoding], bodyBytes: Int) -> ContentCoding {
        var best = ContentCoding.identity
        var bestQuality = 0
        for (coding, bytesMax) in [(ContentCoding.zstd, zstdBytesMax), (.gzip, gzipBytesMax)]
        where bodyBytes <= bytesMax && codings.contains(coding) {
            let quality = accept.quality(of: coding)
            if quality > bestQuality { (best, bestQuality) = (coding, quality) }
        }
        return accept.quality(of: .identity) > bestQuality ? .identity : best
    }
}
