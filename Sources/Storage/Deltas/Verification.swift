internal import Dictionaries
internal import Primitives
internal import Synchronization

/// The choice of the deltas that are verified before they are sent, and the counts of that.
///
/// Safe from any thread.
package final class Verification: Sendable {
    /// The setting `compression.verify`.
    package enum Mode: String, Sendable {
        /// One delta in a hundred is verified, and the first of each prepared dictionary.
        case sampled
        case always
        case never
    }

    private static let sampleSize = 100

    private let mode: Mode
    private let made = Atomic<Int>(0)
    private let checked = Atomic<Int>(0)
    private let failed = Atomic<Int>(0)

    init(_ mode: Mode) {
        self.mode = mode
    }

    package var checks: Int { checked.load(ordering: .relaxed) }
    package var failures: Int { failed.load(ordering: .relaxed) }

    /// Counts a delta that is sent only once; returns true if it is to be verified.
    func sample(isFirstOfIndex: Bool) -> Bool {
        switch mode {
        case .always: true
        case .never: false
        case .sampled:
            made.wrappingAdd(1, ordering: .relaxed).oldValue % Self.sampleSize == 0 || isFirstOfIndex
        }
    }

    /// Counts a stream that is verified as it goes out.
    func countCheck() { checked.wrappingAdd(1, ordering: .relaxed) }

    /// Counts a stream that was not exact.
    func countFailure() { failed.wrappingAdd(1, ordering: .relaxed) }

    /// Verifies a delta that is to be cached, and counts; nil if it is not exact.
    func verify(
        _ coded: [UInt8], of body: Body, over dictionary: Body, _ coding: ContentCoding, in scope: DeltaScope
    ) -> VerifiedDelta? {
        let delta = VerifiedDelta(coded, of: body, over: dictionary, coding, in: scope)
        countCheck()
        if delta == nil { countFailure() }
        return delta
    }

    /// Decodes a delta that is sent only once, compares it with the body, and counts.
    func isExact(_ coded: [UInt8], _ coding: ContentCoding, dictionary: Body, body: [UInt8]) -> Bool {
        let isExact = VerifiedDelta.isExact(coded, coding, dictionary: dictionary, body: body)
        countCheck()
        if !isExact { countFailure() }
        return isExact
    }
}

/// An encoder whose output is decoded again before it is given out.
///
/// Throws an error of the stage `verify` if the output does not decode to the input; nothing of that piece may be
/// sent.
final class VerifiedEncoder: Encoder {
    /// The maximum number of bytes that its decoder takes: a window, and the bytes that wait for comparison.
    static let memoryBytesMax = 16 << 20

    private let engine: any Encoder
    private let decoder: Decoder
    private let verification: Verification
    /// The input that has not been decoded again yet.
    private var expected: [UInt8] = []

    init(_ engine: any Encoder, dictionary: Body, verification: Verification) throws(CodingError) {
        self.engine = engine
        decoder = try Codec.decoder(
            for: engine.coding, dictionary: dictionary,
            limits: DecoderLimits(maxBytes: .max, maxRatio: .max))
        self.verification = verification
    }

    var coding: ContentCoding { engine.coding }
    var memoryBytes: Int { engine.memoryBytes + expected.capacity }

    func encode(
        _ input: Span<UInt8>, _ directive: EncoderDirective, into output: inout [UInt8]
    ) throws(CodingError) {
        var piece: [UInt8] = []
        try engine.encode(input, directive, into: &piece)
        expected.append(input)
        guard comesBack(piece, isEnd: directive == .end) else {
            verification.countFailure()
            throw CodingError(coding, .verify, "the coded bytes do not decode to the body")
        }
        output += piece
    }

    private func comesBack(_ piece: [UInt8], isEnd: Bool) -> Bool {
        var decoded: [UInt8] = []
        guard (try? decoder.decode(piece.span, into: &decoded)) != nil, decoded.count <= expected.count,
            decoded.span.equals(expected.span.extracting(first: decoded.count))
        else { return false }
        expected.removeFirst(decoded.count)
        return !isEnd || expected.isEmpty && (try? decoder.finish()) != nil
    }
}
