internal import Dictionaries
internal import HTTP
internal import Primitives

/// The treatment of a request's Content-Encoding on a route that decodes bodies over dictionaries.
enum UploadCoding {
    /// The body goes to the upstream as it comes.
    case passes
    case dcz
    /// The body is coded over a dictionary in a way that Dictum does not undo.
    case refused

    init(_ request: borrowing RequestHead) {
        let codings = ContentCoding.applied(contentEncoding: request.headers.values(.contentEncoding))
        guard codings.contains(where: { $0?.usesDictionary == true }) else {
            self = .passes
            return
        }
        // RFC 9110 section 14.4: the range would be one of the coded bytes.
        let isWhole = !request.headers.contains(.contentRange)
        self = codings == [.dcz] && isWhole ? .dcz : .refused
    }
}

/// The body of a request in dcz (RFC 9842 section 5) on its way to the upstream: a machine without I/O.
///
/// It names the dictionary once the header has come, and decodes after that. The request begins at the upstream once the body is
/// whole or `heldBytesMax` of it are decoded, so that most broken bodies never get there.
struct UploadDecoding: ~Copyable {
    /// The decoded bytes that are held, so that shorter bodies have a Content-Length.
    static let heldBytesMax = CodingRemoval.pieceBytes

    /// One thing that the exchange has to do.
    enum Action {
        /// Look for the dictionary; `found` follows.
        case find(Digest)
        /// Send the head of the request, with this framing.
        case begin(BodyFraming)
        case write([UInt8])
        case finish(trailers: Headers)
        case fail(CodingRemoval.Failure)
    }

    private enum Stage { case header, finding, held, streamed, ended }

    private var stage = Stage.header
    /// The coded bytes until the dictionary is found.
    private var input: [UInt8] = []
    /// The decoded bytes that the upstream has not got.
    private var output: [UInt8] = []
    private var removal: CodingRemoval?
    /// The memory of `input` and `output`.
    private var memory: MemoryLoan?
    /// The trailers, once the body has come whole.
    private var trailers: Headers?
    private let limits: DecoderLimits
    private let share: MemoryShare

    init(limits: DecoderLimits, memory share: MemoryShare) { (self.limits, self.share) = (limits, share) }

    // MARK: Events

    mutating func received(_ bytes: Span<UInt8>) {
        switch stage {
        case .header, .finding: input.append(bytes)
        case .held, .streamed: removal?.append(bytes)
        case .ended: break
        }
    }

    mutating func receivedEnd(_ trailers: Headers) { self.trailers = trailers }

    /// Takes the dictionary that the header names.
    mutating func found(_ dictionary: Body) {
        guard stage == .finding else { return }
        stage = .held
        let coded = exchange(&input, with: [])
        removal = CodingRemoval(.dcz, over: dictionary, limits: limits, memory: share)
        removal?.append(coded.span)
    }

    /// Ends the decoding of a body whose dictionary is unknown.
    mutating func giveUp() { stage = .ended }

    // MARK: Actions

    var isFinding: Bool { stage == .finding }

    /// True while more of the body can be of use; `hasRoom` says that the upstream takes bytes.
    func wantsInput(hasRoom: Bool) -> Bool {
        switch stage {
        case .header, .held: true
        case .finding, .ended: false
        case .streamed: hasRoom && output.isEmpty
        }
    }

    /// Returns what is to be done now; nil until the next event.
    mutating func next(hasRoom: Bool) -> Action? {
        do throws(CodingRemoval.Failure) {
            return try step(hasRoom: hasRoom)
        } catch {
            stage = .ended
            return .fail(error)
        }
    }

    private mutating func step(hasRoom: Bool) throws(CodingRemoval.Failure) -> Action? {
        switch stage {
        case .finding:
            try lend()
            return nil
        // Its failure would be refused again and again.
        case .ended: return nil
        case .header:
            guard input.count >= DictionaryHeader.dczBytes || trailers != nil else { return nil }
            guard let header = DictionaryHeader.read(input), header.coding == .dcz else { throw .malformed }
            stage = .finding
            return .find(header.digest)
        case .held:
            guard removal != nil else { throw .noMemory }
            while output.count < Self.heldBytesMax, isBehind { try decode() }
            guard isBehind || trailers == nil else {
                try checkWhole()
                stage = .streamed
                // A body with a length has no trailers (RFC 9112 section 6).
                return .begin(trailers?.isEmpty == true ? .length(UInt64(output.count)) : .chunked)
            }
            guard output.count >= Self.heldBytesMax else { return nil }
            stage = .streamed
            return .begin(.chunked)
        case .streamed:
            guard hasRoom else { return nil }
            while output.isEmpty, isBehind { try decode() }
            if let piece = takeOutput() { return .write(piece) }
            guard let trailers else { return nil }
            try checkWhole()
            stage = .ended
            return .finish(trailers: trailers)
        }
    }

    private var isBehind: Bool { removal.read { $0.isBehind } ?? false }

    private mutating func decode() throws(CodingRemoval.Failure) {
        try removal?.decodePiece(into: &output, takesAll: false)
        try lend()
    }

    private mutating func takeOutput() -> [UInt8]? {
        guard !output.isEmpty else { return nil }
        let piece = exchange(&output, with: [])
        memory = nil
        return piece
    }

    private mutating func lend() throws(CodingRemoval.Failure) {
        guard share.resize(&memory, to: input.count + output.count) else { throw .noMemory }
    }

    private func checkWhole() throws(CodingRemoval.Failure) {
        guard removal.read({ $0.isComplete() }) == true else { throw .malformed }
    }
}

/// The body of a request as far as it has come.
struct RequestUpload: ~Copyable {
    let framing: BodyFraming
    var upstreamFraming: BodyFraming
    let coding: UploadCoding
    /// The decoding of a body in dcz; nil for others, and once nobody needs the rest.
    var decoding: UploadDecoding?
    private(set) var bytes = 0
    private(set) var isWhole: Bool
    /// The bytes that came while the request waited for a place; the paused client had sent them before.
    private var kept: (bytes: [UInt8], trailers: Headers?) = ([], nil)
    /// The text that may name an operation; nil if the body cannot.
    private var text: OperationText?

    init(_ framing: BodyFraming, coding: UploadCoding) {
        (self.framing, self.upstreamFraming, self.coding) = (framing, framing, coding)
        isWhole = !framing.hasBody
    }

    /// Has the body that is to come kept for the operation that it names.
    mutating func read(_ key: OperationKey, memory share: MemoryShare) {
        if framing.hasBody { text = OperationText(key, memory: share) }
    }

    /// The operation that the body names; nil unless a whole JSON object has come so far.
    var operation: RequestOperation? { text.read { $0.operation } ?? nil }

    mutating func received(_ piece: Span<UInt8>) {
        bytes += piece.count
        if coding == .passes { readOperation(piece) }
    }

    /// Reads the operation from a piece of the body without its coding.
    mutating func readOperation(_ piece: Span<UInt8>) { text?.append(piece) }

    mutating func receivedEnd() { isWhole = true }

    mutating func keep(_ piece: Span<UInt8>) { kept.bytes.append(piece) }

    mutating func keepEnd(_ trailers: Headers) { kept.trailers = trailers }

    /// Takes out what was kept; `trailers` are there if the body was whole.
    mutating func takeKept() -> (bytes: [UInt8], trailers: Headers?) {
        exchange(&kept, with: ([], nil))
    }
}

/// The text of a request's body as far as it has come, for the operation that it names.
private struct OperationText: ~Copyable {
    private let key: OperationKey
    private let share: MemoryShare
    private var text: [UInt8] = []
    private var memory: MemoryLoan?
    /// True once the body is too long, or there was no memory for it.
    private var isGivenUp = false

    init(_ key: OperationKey, memory share: MemoryShare) { (self.key, self.share) = (key, share) }

    var operation: RequestOperation? {
        isGivenUp ? nil : RequestOperation(key, JSONMembers.values(of: key.paths, in: text))
    }

    mutating func append(_ piece: Span<UInt8>) {
        guard !isGivenUp else { return }
        let count = text.count + piece.count
        guard count <= JSONMembers.bytesMax, share.resize(&memory, to: count) else {
            (isGivenUp, text) = (true, [])
            memory = nil
            return
        }
        text.append(piece)
    }
}
