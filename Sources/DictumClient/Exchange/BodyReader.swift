internal import Dictionaries
internal import Foundation
internal import Primitives

/// The body of one response on its way to the app: decoded piece by piece, bounded, and kept if it is a dictionary.
///
/// The app draws the pieces, so that a slow app slows the server down.
actor BodyReader {
    private static let pieceBytes = 256 << 10

    private let nextPiece: @Sendable () async throws -> Data?
    private let limit: Int
    /// The decoder of the body; nil once it has ended, and from the start if the body passes as it came.
    private var decoder: Decoder?
    private let coding: ContentCoding?
    /// True if the transport may have undone a coding whose name is still in the head.
    private let transportMayDecode: Bool
    private var input: [UInt8] = []
    private var offset = 0
    private var isAtEnd = false
    /// The error of the body: a transport may say nothing of it after the first time.
    private var failure: (any Error)?
    /// A piece that was read before the app asked for one.
    private var first: Data?
    /// A copy for the store, as long as it is small enough to be kept; nil if none is wanted.
    private var copy: [UInt8]?
    private let copyBytesMax: Int
    private(set) var wireBytes = 0
    private(set) var bodyBytes = 0

    /// Takes the pieces of a body in a coding; nil lets it pass as it comes.
    init(
        _ nextPiece: @escaping @Sendable () async throws -> Data?, coding: ContentCoding?, dictionary: Body?,
        limit: Int, copyBytesMax: Int?, transportMayDecode: Bool
    ) throws(CodingError) {
        self.nextPiece = nextPiece
        self.limit = limit
        self.copyBytesMax = copyBytesMax ?? 0
        copy = copyBytesMax == nil ? nil : []
        self.transportMayDecode = transportMayDecode
        self.coding = coding == .identity ? nil : coding
        if let coding = self.coding {
            // A ratio bounds nothing that the limit does not: the deltas of a feed may be a thousand times shorter.
            let limits = DecoderLimits(maxBytes: limit, maxRatio: 10_000)
            decoder = try Codec.decoder(for: coding, dictionary: dictionary, limits: limits)
        }
    }

    /// Reads until there is something to deliver, so that most broken bodies are found before the app has any part.
    func prepare() async throws {
        first = try await read()
    }

    /// Returns the next decoded piece; nil once the body has come whole, and throws if it never will.
    func next() async throws -> Data? {
        if let first {
            self.first = nil
            return first
        }
        return try await read()
    }

    /// Has each further draw throw this in place of the reader's own error, which has been dealt with.
    func fail(with error: any Error) { failure = error }

    /// Returns the whole body if a copy was wanted and is small enough.
    func takeCopy() -> [UInt8]? { copy.take() }

    private func read() async throws -> Data? {
        if let failure { throw failure }
        do {
            return try await nextDecoded()
        } catch {
            failure = error
            throw error
        }
    }

    private func nextDecoded() async throws -> Data? {
        while true {
            if let piece = try decoded() { return deliver(piece) }
            guard !isAtEnd else { return nil }
            guard let piece = try await nextReceived() else {
                // A transport may end a body in silence when the task is cancelled.
                try Task.checkCancellation()
                isAtEnd = true
                if let coding, CodedContent.needsDecoding(bytes: wireBytes, coding) { try decoder?.finish() }
                decoder = nil
                return nil
            }
            if wireBytes == 0, isDecodedAlready(piece) { decoder = nil }
            wireBytes += piece.count
            if decoder != nil {
                (input, offset) = ([UInt8](piece), 0)
            } else if !piece.isEmpty {
                guard piece.count <= limit - bodyBytes else {
                    throw DictionaryClientError.tooLarge(limit: limit)
                }
                return deliver(piece)
            }
        }
    }

    /// Returns the next piece as it came; of a first one that may be decoded already, enough to tell.
    private func nextReceived() async throws -> Data? {
        guard var piece = try await nextPiece() else { return nil }
        while wireBytes == 0, mayBeDecoded, piece.count < Self.magicBytes, let more = try await nextPiece() {
            piece += more
        }
        return piece
    }

    /// Newer systems undo zstd by themselves, and leave its name in the head.
    private var mayBeDecoded: Bool { transportMayDecode && coding == .zstd }

    /// The bytes that tell a frame of Zstandard (RFC 8878 section 3.1); each frame has more.
    private static let magicBytes = 4

    /// Returns true if the first piece of a body in zstd is no frame of Zstandard.
    private func isDecodedAlready(_ piece: Data) -> Bool {
        guard mayBeDecoded else { return false }
        let magic = piece.prefix(Self.magicBytes).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return magic != 0xFD2F_B528 && magic & 0xFFFF_FFF0 != 0x184D_2A50
    }

    /// Decodes a part of the input; returns nil if it leads to no bytes.
    private func decoded() throws -> Data? {
        guard let decoder, offset < input.count || decoder.hasMore else { return nil }
        var output: [UInt8] = []
        let input = input
        let rest = input.span.extracting(offset..<input.count)
        offset += try decoder.decode(rest, upTo: Self.pieceBytes, into: &output)
        return output.isEmpty ? nil : Data(output)
    }

    private func deliver(_ piece: Data) -> Data {
        bodyBytes += piece.count
        if copy != nil {
            if bodyBytes <= copyBytesMax { copy?.append(contentsOf: piece) } else { copy = nil }
        }
        return piece
    }
}
