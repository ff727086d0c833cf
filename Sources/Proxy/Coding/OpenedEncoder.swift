internal import Dictionaries
internal import HTTP

/// An encoder that another thread has made, with what it has coded so far, on its way to the loop.
///
// @unchecked proof: the thread that makes it hands it over and keeps nothing; from then on the loop alone uses it.
final class OpenedEncoder: @unchecked Sendable {
    /// Nil where it could not be made, or failed.
    let encoder: (any Encoder)?
    /// Why there is none.
    let error: CodingError?
    let output: [UInt8]
    let nanoseconds: Int
    /// The memory of its check, where the loop did not take that before.
    private var checkMemory: MemoryLoan?

    /// Makes an encoder, indexing its dictionary if that is due, and codes what has come of the body.
    ///
    /// Takes milliseconds, so not on an event loop.
    init(
        _ coding: ContentCoding, bodyBytes: Int?, level: Int?, dictionary: Body?, scope: DeltaScope,
        held: [UInt8], isChecked: Bool, deltas: Deltas, memory: MemoryBudget
    ) {
        let begin = Clock.monotonicNanoseconds
        var options = EncoderOptions(bodyBytes: bodyBytes, level: level)
        var output: [UInt8] = []
        var checkMemory: MemoryLoan?
        do throws(CodingError) {
            var isChecked = isChecked
            if let dictionary {
                let use = try deltas.prepared.use(dictionary, for: coding, in: scope)
                options.dictionary = use.dictionary
                // The first over an index is always checked, if there is memory for it.
                if !isChecked, use.isFirst, deltas.isStreamCheckDue(isFirstOfIndex: true) {
                    checkMemory = MemoryLoan(Deltas.streamCheckBytes, from: memory)
                    isChecked = checkMemory != nil
                }
            }
            var encoder = try Codec.encoder(for: coding, options: options)
            if isChecked, let dictionary { encoder = try deltas.checked(encoder, over: dictionary) }
            // Also of nothing: the first call is the one that indexes a dictionary given by reference.
            try encoder.encode(held.span, .more, into: &output)
            self.encoder = encoder
            error = nil
        } catch {
            encoder = nil
            self.error = error
        }
        self.output = output
        self.checkMemory = checkMemory
        nanoseconds = Int(Clock.monotonicNanoseconds - begin)
    }

    /// The memory of the check, for who keeps the encoder.
    func takeCheckMemory() -> MemoryLoan? { checkMemory.take() }
}
