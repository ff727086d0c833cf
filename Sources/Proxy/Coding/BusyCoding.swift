internal import Dictionaries

/// How an answer goes out when there is no place to code it as decided.
enum BusyCoding {
    /// Level 1 of zstd takes 3 µs a KiB, so this long on the loop: 0.2 ms.
    static let zstdBytesMax = 64 << 10
    /// Level 1 of gzip takes 10 µs a KiB.
    static let gzipBytesMax = 16 << 10

    /// The best coding that the loop itself can make in no time; identity where there is none.
    static func quick(
        accept: AcceptEncoding, codings: [ContentCoding], bodyBytes: Int
    ) -> ContentCoding {
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
