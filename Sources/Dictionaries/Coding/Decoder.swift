internal import Primitives

/// The bounds on the size of a decoded body.
package struct DecoderLimits: Sendable {
    /// The number of decoded bytes that the ratio does not bound.
    static let ratioFreeBytes = 64 << 10

    package var maxBytes: Int
    /// The maximum number of decoded bytes per byte read, beyond the first 64 KiB; the dictionary's bytes count as
    /// read.
    package var maxRatio: Int
    /// The maximum number of bytes per step, so that a body of unknown length takes little memory at a time.
    package var stepBytes = 64 << 10

    /// Limits the bytes, and the ratio to 100 by default.
    package init(maxBytes: Int, maxRatio: Int = 100) {
        self.maxBytes = maxBytes
        self.maxRatio = maxRatio
    }
}

/// One library's decoder, one step at a time; `Decoder` has the rules of all codings.
///
/// Not Sendable, one owner at a time.
protocol DecoderEngine: AnyObject {
    var coding: ContentCoding { get }

    /// Decodes once, with room for `capacity` bytes behind those of `output`; returns the number of input bytes used.
    func step(_ input: Span<UInt8>, capacity: Int, into output: inout [UInt8]) throws(CodingError) -> Int

    /// True if the last step had more output than room.
    var hasMore: Bool { get }

    var memoryBytes: Int { get }

    /// An upper bound of the bytes that it will hold, as far as the input read so far tells.
    var memoryBytesMax: Int { get }

    /// True if the stream may end here.
    var isComplete: Bool { get }
}

/// Decodes one body, piece by piece; not Sendable, one owner at a time.
///
/// The rules of all codings are here: the header must match, the limits hold, and after an error every further call
/// throws. The output is known to be whole only once `finish` has returned.
package final class Decoder {
    private let engine: any DecoderEngine
    private let header: [UInt8]
    private let limits: DecoderLimits
    private var headerBytesRead = 0
    /// The bytes read, those of the dictionary included, and written, to which the limits apply.
    private var (readBytes, writtenBytes): (Int, Int)
    private var hasFailed = false

    init(_ engine: any DecoderEngine, header: [UInt8], dictionaryBytes: Int, limits: DecoderLimits) {
        self.engine = engine
        self.header = header
        self.limits = limits
        (readBytes, writtenBytes) = (dictionaryBytes, 0)
    }

    private var coding: ContentCoding { engine.coding }
    /// True while input that was used leads to more output.
    package var hasMore: Bool { engine.hasMore }
    /// The bytes of memory that it holds, for budgets.
    package var memoryBytes: Int { engine.memoryBytes }
    /// An upper bound of the bytes that it will hold, as far as the input read so far tells: mostly the window of
    /// the stream.
    package var memoryBytesMax: Int { engine.memoryBytesMax }

    /// Appends all decoded bytes that `input` leads to, within the limits.
    package func decode(_ input: Span<UInt8>, into output: inout [UInt8]) throws(CodingError) {
        _ = try decode(input, upTo: .max, into: &output)
    }

    /// Appends at most `outputBytes` decoded bytes, within the limits; returns the number of input bytes used.
    ///
    /// The next call continues with the rest of the input. While `hasMore`, call again even without any input.
    /// O(count of the output).
    package func decode(
        _ input: Span<UInt8>, upTo outputBytes: Int, into output: inout [UInt8]
    ) throws(CodingError) -> Int {
        try checkNotFailed()
        hasFailed = true
        var used = try readHeader(input)
        let end = output.count + min(outputBytes, Int.max - output.count)
        while used < input.count || engine.hasMore, output.count < end {
            let waiting = input.count - used
            let capacity = min(stepCapacity(waiting: waiting), end - output.count)
            let before = output.count
            let step = try engine.step(input.extracting(used...), capacity: capacity, into: &output)
            used += step
            readBytes += step
            try wrote(output.count - before, waiting: waiting - step)
        }
        hasFailed = false
        return used
    }

    /// Throws unless the stream is complete and nothing followed it.
    package func finish() throws(CodingError) {
        try checkNotFailed()
        hasFailed = true
        guard headerBytesRead == header.count else {
            throw CodingError(coding, .header, "the body ends within its header")
        }
        guard engine.isComplete else { throw CodingError(coding, .end, "the stream is cut short") }
        hasFailed = false
    }

    private func checkNotFailed() throws(CodingError) {
        guard !hasFailed else { throw CodingError(coding, .decode, "the decoder has failed before") }
    }

    /// Compares the part of the header that `input` has; returns the number of bytes compared.
    private func readHeader(_ input: Span<UInt8>) throws(CodingError) -> Int {
        let count = min(header.count - headerBytesRead, input.count)
        for index in 0..<count where input[index] != header[headerBytesRead + index] {
            let isMagic = headerBytesRead + index < header.count - Digest.byteCount
            throw CodingError(
                coding, .header,
                isMagic ? "invalid magic number" : "the digest of another dictionary")
        }
        headerBytesRead += count
        return count
    }

    // MARK: Limits

    /// Returns the number of bytes that may be written in all, given `waiting` bytes of unused input.
    private func allowedBytes(waiting: Int) -> Int {
        let (product, overflow) = (readBytes + waiting).multipliedReportingOverflow(by: limits.maxRatio)
        if overflow || product > Int.max - DecoderLimits.ratioFreeBytes { return limits.maxBytes }
        return min(limits.maxBytes, product + DecoderLimits.ratioFreeBytes)
    }

    /// Returns the room for the decoder's next step: at most one byte beyond the limit, so that a bomb is noticed
    /// and not built.
    private func stepCapacity(waiting: Int) -> Int {
        max(0, min(limits.stepBytes - 1, allowedBytes(waiting: waiting) - writtenBytes)) + 1
    }

    /// Counts decoded bytes; throws beyond the limits.
    private func wrote(_ count: Int, waiting: Int) throws(CodingError) {
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

/// A decoder that copies, within the limits.
final class IdentityDecoder: DecoderEngine {
    let coding = ContentCoding.identity
    let hasMore = false
    let memoryBytes = 0
    let memoryBytesMax = 0
    let isComplete = true

    func step(_ input: Span<UInt8>, capacity: Int, into output: inout [UInt8]) -> Int {
        let count = min(input.count, capacity)
        output.append(input.extracting(0..<count))
        return count
    }
}
