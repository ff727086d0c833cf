internal import Dictionaries
internal import Primitives

/// Undoes the coding of one body, piece by piece and with borrowed memory.
///
/// A few bytes may stand for gigabytes, so no call decodes more than `pieceBytes`.
struct CodingRemoval: ~Copyable {
    /// A reason why a body cannot be decoded any further.
    enum Failure: Error {
        /// The bytes are not in the coding.
        case malformed
        /// The decoded body would be larger than the limits allow.
        case tooLarge
        /// The decoder needs more memory than there is.
        case noMemory
    }

    static let pieceBytes = 256 * 1024

    private let decoder: Decoder
    private let share: MemoryShare
    private var memory: MemoryLoan?
    /// The input that is not decoded yet begins at `offset`.
    private var input: [UInt8] = []
    private var offset = 0
    private var isEmpty = true

    /// Returns nil if there is no decoder for the coding, with a dictionary if it takes one.
    init?(
        _ coding: ContentCoding, over dictionary: Body? = nil, limits: DecoderLimits,
        memory share: MemoryShare
    ) {
        guard let decoder = try? Codec.decoder(for: coding, dictionary: dictionary, limits: limits) else {
            return nil
        }
        self.decoder = decoder
        self.share = share
    }

    /// True while there is input left to decode.
    var isBehind: Bool { offset < input.count || decoder.hasMore }

    mutating func append(_ bytes: Span<UInt8>) {
        if offset == input.count {
            input.removeAll(keepingCapacity: input.count <= 64 * 1024)
            offset = 0
        }
        input.append(bytes)
        isEmpty = isEmpty && bytes.isEmpty
    }

    /// Appends the next piece of the body to `output`.
    ///
    /// With `takesAll` the memory covers all that the rest of the stream may need.
    mutating func decodePiece(into output: inout [UInt8], takesAll: Bool) throws(Failure) {
        do {
            offset += try decoder.decode(
                input.span.extracting(offset...), upTo: Self.pieceBytes, into: &output)
        } catch {
            throw error.stage == .limit ? .tooLarge : .malformed
        }
        guard reserve(all: takesAll) else { throw .noMemory }
    }

    /// Borrows the memory that the decoder holds, or all that it may come to hold; returns false if there is not enough.
    mutating func reserve(all: Bool) -> Bool {
        share.resize(&memory, to: all ? decoder.memoryBytesMax : decoder.memoryBytes)
    }

    /// True if the body may end here; some servers name the coding of a body that they do not have.
    func isComplete() -> Bool { isEmpty || (try? decoder.finish()) != nil }
}

extension Optional where Wrapped: ~Copyable {
    /// Returns what `body` reads of a value that optional chaining could only take out; nil without a value.
    func read<Result>(_ body: (borrowing Wrapped) -> Result) -> Result? {
        switch self {
        case .some(let value): body(value)
        case .none: nil
        }
    }
}
