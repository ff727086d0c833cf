internal import Dictionaries
internal import HTTP
internal import Primitives
internal import TestSupport
internal import Testing

@testable import Proxy

/// The decoding of a request's body without sockets: events in, actions out.
@Suite struct UploadDecodingTests {
    private let budget = MemoryBudget(bytes: 64 << 20)
    private let dictionary = Body(Feed.bytes(version: 0, items: 40))
    private static let pieceBytes = 16 << 10
    /// The largest block of Zstandard (RFC 8878 section 3.1.1.2.4), which is decoded at once.
    private static let blockBytes = 128 << 10

    /// The bytes that were read from the client, and those that were written to the upstream.
    private struct Progress {
        var read = 0
        var written: [UInt8] = []
        var framing: BodyFraming?
        var isFinished = false
    }

    @Test func `no more is read than an upstream takes, and nothing stays borrowed`() throws {
        let body = Noise.bytes(2 << 20, seed: 5)
        let coded = try Codec.encode(
            body.span, .dcz, options: EncoderOptions(dictionary: .reference(dictionary)))
        var upload = UploadDecoding(
            limits: DecoderLimits(maxBytes: .max), memory: MemoryShare(of: budget))
        var progress = Progress()
        while upload.wantsInput(hasRoom: false), progress.read < coded.count {
            feed(coded, to: &upload, &progress, hasRoom: false)
        }
        #expect(progress.framing == .chunked && progress.written.isEmpty)
        let held = UploadDecoding.heldBytesMax + Self.blockBytes
        #expect(progress.read <= held + 2 * Self.pieceBytes)
        let fullBytes = budget.takenBytes
        feed(coded, to: &upload, &progress, hasRoom: true)
        #expect(
            budget.takenBytes + UploadDecoding.heldBytesMax <= fullBytes,
            "what waited for the upstream was borrowed")
        while progress.read < coded.count {
            feed(coded, to: &upload, &progress, hasRoom: true)
            #expect(progress.written.count + 2 * Self.blockBytes >= progress.read)
            let wantsMore = (upload.wantsInput(hasRoom: false), upload.wantsInput(hasRoom: true))
            #expect(wantsMore == (false, true))
        }
        upload.receivedEnd(Headers())
        act(&upload, &progress, hasRoom: true)
        #expect(progress.isFinished && progress.written == body)
        _ = consume upload
        #expect(budget.takenBytes == 0)
    }

    /// Gives the next piece of the coded body, and does what is asked for.
    private func feed(
        _ coded: [UInt8], to upload: inout UploadDecoding, _ progress: inout Progress, hasRoom: Bool
    ) {
        let end = min(progress.read + Self.pieceBytes, coded.count)
        upload.received(coded.span.extracting(progress.read..<end))
        progress.read = end
        act(&upload, &progress, hasRoom: hasRoom)
    }

    private func act(_ upload: inout UploadDecoding, _ progress: inout Progress, hasRoom: Bool) {
        while let action = upload.next(hasRoom: hasRoom) {
            switch action {
            case .find(let digest):
                #expect(digest == dictionary.digest)
                upload.found(dictionary)
            case .begin(let framing): progress.framing = framing
            case .write(let piece): progress.written += piece
            case .finish: progress.isFinished = true
            case .fail(let failure): Issue.record("\(failure)")
            }
        }
    }
}
