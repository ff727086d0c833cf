/// The bounds on the size of a decoded body.
package struct DecoderLimits: Sendable {
    /// The number of decoded bytes that the ratio does not bound.
    static let ratioFreeBytes = 64 << 10

    /// The maximum number of decoded bytes.
    package var maxBytes: Int
    /// The maximum number of decoded bytes per byte read, beyond the first 64 KiB; the dictionary's bytes count as
    /// read.
    package var maxRatio: Int
    /// The maximum number of bytes per step, so that a body of unknown length takes little memory at a time.
    var stepBytes = 64 << 10

    /// Limits the bytes, and the ratio to 100 by default.
    package init(maxBytes: Int, maxRatio: Int = 100) {
        self.maxBytes = maxBytes
        self.maxRatio = maxRatio
    }
}

/// A decoder's account of bytes read and written, checked against its limits.
struct DecoderBudget {
    private let coding: ContentCoding
    private let limits: DecoderLimits
    private var readBytes: Int
    private var writtenBytes = 0

    init(coding: ContentCoding, dictionaryBytes: Int, limits: DecoderLimits) {
        self.coding = coding
        self.limits = limits
        readBytes = dictionaryBytes
    }

    /// Returns the number of bytes that may be written in all, given `waiting` bytes of unused input.
    private func allowedBytes(waiting: Int) -> Int {
        let (product, overflow) = (readBytes + waiting).multipliedReportingOverflow(by: limits.maxRatio)
        if overflow || product > Int.max - DecoderLimits.ratioFreeBytes { return limits.maxBytes }
        return min(limits.maxBytes, product + DecoderLimits.ratioFreeBytes)
    }

    /// Returns the room for the decoder's next step: at most one byte beyond the limit, so that a bomb is noticed
    /// and not built.
    func roomBytes(waiting: Int) -> Int {
        max(0, min(limits.stepBytes - 1, allowedBytes(waiting: waiting) - writtenBytes)) + 1
    }

    /// Counts input bytes that were used.
    mutating func read(_ count: Int) { readBytes += count }

    /// Counts decoded bytes; throws beyond the limits.
    mutating func wrote(_ count: Int, waiting: Int) throws(CodingError) {
        writtenBytes += count
        guard writtenBytes <= allowedBytes(waiting: waiting) else {
            throw CodingError(
                coding, .limit,
                writtenBytes > limits.maxBytes
                    ? "the body has more than \(limits.maxBytes) bytes"
                    : "the body has more than \(limits.maxRatio) times the bytes of its coded form")
        }
    }
}
