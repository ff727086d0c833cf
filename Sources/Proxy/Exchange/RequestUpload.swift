internal import Dictionaries
internal import HTTP
internal import Primitives

/// The body of a request as far as it has come.
struct RequestUpload: ~Copyable {
    let framing: BodyFraming
    /// The framing of the body at the upstream.
    var upstreamFraming: BodyFraming
    /// The treatment of its content coding.
    let coding: UploadCoding
    /// The decoding of a body in dcz; nil for others, and once nobody needs the rest.
    var decoding: UploadDecoding?
    private(set) var bytes = 0
    private(set) var isWhole: Bool
    /// The bytes that came while the request waited for a place; the paused client had sent them before.
    private var kept: (bytes: [UInt8], trailers: Headers?) = ([], nil)
    /// Reads the operation from the request body while it passes; nil if the body cannot name one.
    private var reading: (key: OperationKey, members: JSONMembers)?

    init(_ framing: BodyFraming, coding: UploadCoding) {
        (self.framing, self.upstreamFraming, self.coding) = (framing, framing, coding)
        isWhole = framing == .none || framing == .length(0)
    }

    var hasBody: Bool { framing != .none && framing != .length(0) }

    /// Has the members of a key read in the body that is to come.
    mutating func read(_ key: OperationKey) {
        if hasBody { reading = (key, JSONMembers(key.paths)) }
    }

    /// The operation that the body names; nil unless a whole JSON object has come so far.
    var operation: RequestOperation? { reading.flatMap { RequestOperation($0.key, $0.members.values) } }

    mutating func received(_ piece: Span<UInt8>) {
        bytes += piece.count
        if coding == .passes { readOperation(piece) }
    }

    /// Reads the operation from a piece of the body without its coding.
    mutating func readOperation(_ piece: Span<UInt8>) { reading?.members.read(piece) }

    mutating func receivedEnd() { isWhole = true }

    mutating func keep(_ piece: Span<UInt8>) { kept.bytes.append(piece) }

    mutating func keepEnd(_ trailers: Headers) { kept.trailers = trailers }

    /// Takes out what was kept; `trailers` are there if the body was whole.
    mutating func takeKept() -> (bytes: [UInt8], trailers: Headers?) {
        var taken: (bytes: [UInt8], trailers: Headers?) = ([], nil)
        swap(&taken, &kept)
        return taken
    }
}
