internal import Dictionaries
internal import Primitives
internal import Storage

/// The stage of a response's body, with all that only this stage needs.
enum BodyStage: ~Copyable {
    /// The response has no body, or none has come yet.
    case none
    case held(HeldBody)
    /// The body is whole; it is compared, hashed and coded.
    case preparing(HeldBody)
    case sending(WholeBody)
    /// The upstream's bytes go out untouched.
    case passing
    /// The upstream's coding is undone, and no other put in its place.
    case decoding
    /// An encoder is made by another thread.
    case opening(PendingEncoder)
    case coding(StreamEncoder)
    /// The last bytes wait until the store has taken the copy.
    case tail(BodyTail)
    case ended
}

/// A whole body in its final coding, which goes out as fast as the client takes it.
struct WholeBody: ~Copyable {
    static let sliceBytes = 64 * 1024

    let bytes: [UInt8]
    var offset = 0
    var memory: MemoryLoan?
}

struct PendingEncoder: ~Copyable {
    var memory: EncoderMemory
    var input: [UInt8] = []
}

/// An encoder that codes the body piece by piece.
struct StreamEncoder: ~Copyable {
    let encoder: any Encoder
    let memory: EncoderMemory
    /// True if the encoder holds bytes back that the client should get soon.
    var needsFlush = false
    /// The bytes of the delta so far; nil without a dictionary.
    var deltaBytes: Int?

    mutating func code(
        _ piece: [UInt8], _ directive: EncoderDirective
    ) throws(CodingError) -> (bytes: [UInt8], nanoseconds: Int) {
        let begin = SystemClock.monotonicNanoseconds
        var coded: [UInt8] = []
        try encoder.encode(piece.span, directive, into: &coded)
        if directive == .flush { needsFlush = false }
        if encoder.coding.usesDictionary { deltaBytes = (deltaBytes ?? 0) + coded.count }
        return (coded, Int(SystemClock.monotonicNanoseconds - begin))
    }
}

struct BodyTail: ~Copyable {
    var bytes: [UInt8]
    /// The slot of the copy in the store's memory; nil once its admission is settled.
    var slot: AdmissionSlot?
}

// MARK: - Encoders of streams

enum StreamCoding: ~Copyable {
    /// No coding: the body goes to the client as it is or decoded.
    case none
    case ready(any Encoder, EncoderMemory)
    /// An encoder that another thread makes, which also codes the held bytes.
    case underWay(EncoderMemory)

    var isCoded: Bool {
        switch self {
        case .none: false
        default: true
        }
    }
}

/// The memory of an encoder, and of the check of what it gives out.
struct EncoderMemory: ~Copyable {
    var encoder: MemoryLoan?
    var check: MemoryLoan?
}

/// The copy of a body that goes out piece by piece, and becomes a version once it is complete.
struct VersionCopy: ~Copyable {
    let slot: AdmissionSlot
    /// The body as far as it has come, without the upstream's coding.
    private(set) var bytes: [UInt8] = []
    /// Decodes the pieces for the copy alone; nil if they come decoded.
    private var removal: CodingRemoval?
    private let bytesMax: Int

    /// Creates an empty copy; `removal` decodes pieces that go to the client as the upstream coded them.
    init(slot: AdmissionSlot, bytesMax: Int, removal: consuming CodingRemoval? = nil) {
        self.slot = slot
        self.bytesMax = bytesMax
        self.removal = removal
    }

    /// Adds a piece of the body, or of what is to be decoded; returns false if there is no room for it.
    mutating func append(_ piece: Span<UInt8>) -> Bool {
        guard removal == nil else {
            removal?.append(piece)
            return true
        }
        bytes.append(piece)
        return fits
    }

    /// True while there is something left to decode.
    var isBehind: Bool { removal.read { $0.isBehind } ?? false }

    /// Decodes a piece for the copy; returns false if there is no room for it or it is malformed.
    mutating func decodePiece() -> Bool {
        do throws(CodingRemoval.Failure) {
            try removal?.decodePiece(into: &bytes, takesAll: false)
        } catch {
            return false
        }
        return fits
    }

    private var fits: Bool { bytes.count <= bytesMax && slot.extend(to: bytes.count) }

    /// Returns true if the upstream's coding ended where the body did.
    func isComplete() -> Bool { removal.read { $0.isComplete() } ?? true }
}
