internal import Dictionaries
internal import Primitives
internal import Storage

/// An encoder made on another thread, with its output so far, for the loop.
///
// @unchecked proof: the thread that creates it hands it over and keeps no reference; afterwards only the loop uses it.
final class OpenedEncoder: @unchecked Sendable {
    let encoder: (any Encoder)?
    let error: CodingError?
    let output: [UInt8]
    let nanoseconds: Int
    /// The memory of its check, unless the loop has reserved that before.
    var checkMemory: MemoryLoan?

    /// Creates an encoder, indexing its dictionary if necessary, and codes the body received so far.
    ///
    /// Takes milliseconds, so it may not run on a loop.
    init(
        _ coding: ContentCoding, options: EncoderOptions, scope: DeltaScope, held: [UInt8], isChecked: Bool,
        resources: CodingResources, memory: MemoryShare
    ) {
        let begin = SystemClock.monotonicNanoseconds
        let deltas = resources.deltas
        var options = options
        var output: [UInt8] = []
        var checkMemory: MemoryLoan?
        do throws(CodingError) {
            var isChecked = isChecked
            if let dictionary = options.dictionary?.body {
                let use = try deltas.prepared.use(dictionary, for: coding, in: scope)
                options.dictionary = use.dictionary
                // The first delta over a new index is always checked if there is memory.
                if !isChecked, use.isFirst, deltas.sampleStream(isFirstOfIndex: true) {
                    checkMemory = MemoryLoan(Deltas.streamCheckBytes, from: memory)
                    isChecked = checkMemory != nil
                }
            }
            let encoder = try deltas.encoder(for: coding, options: options, isChecked: isChecked)
            // Required even without input: the first call indexes a dictionary given by reference.
            try encoder.encode(held.span, .more, into: &output)
            self.encoder = encoder
            error = nil
        } catch {
            encoder = nil
            self.error = error
        }
        self.output = output
        self.checkMemory = checkMemory
        nanoseconds = Int(SystemClock.monotonicNanoseconds - begin)
    }
}

/// An encoder that another thread is to make.
struct EncoderOrder {
    /// The bytes that it will work on at once.
    let bytes: Int
    let work: @Sendable () -> Void
}
