/// How large a decoded body may grow.
package struct DecoderLimits: Sendable {
    /// The ratio is not counted before this many bytes.
    static let ratioFreeBytes = 64 << 10

    /// The most bytes a body may have.
    package var maxBytes: Int
    /// The most decoded bytes for each byte read (a dictionary's bytes count as read), beyond the first 64 KiB.
    package var maxRatio: Int
    /// The most that a decoder writes in one step, so that little is taken at a time where the length is not known.
    var stepBytes = 64 << 10

    /// Limits the bytes, and the ratio to 100 unless said otherwise.
    package init(maxBytes: Int, maxRatio: Int = 100) {
        self.maxBytes = maxBytes
        self.maxRatio = maxRatio
    }
}

/// The account of one decoded body against its limits.
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

    /// What may be written, `waiting` bytes having come that are not used yet.
    private func allowedBytes(waiting: Int) -> Int {
        let (product, overflow) = (readBytes + waiting).multipliedReportingOverflow(by: limits.maxRatio)
        if overflow || product > Int.max - DecoderLimits.ratioFreeBytes { return limits.maxBytes }
        return min(limits.maxBytes, product + DecoderLimits.ratioFreeBytes)
    }

    /// The room to give the decoder next: at most one byte beyond the limit, so that a bomb is seen but not built.
    func roomBytes(waiting: Int) -> Int {
        max(0, min(limits.stepBytes - 1, allowedBytes(waiting: waiting) - writtenBytes)) + 1
    }

    /// Counts bytes of the coded stream that were used.
    mutating func read(_ count: Int) { readBytes += count }

    /// Counts decoded bytes.
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
