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

    /// Returns a body in dcz over the dictionary.
    private func encoded(_ body: [UInt8]) throws -> [UInt8] {
        try Codec.encode(body.span, .dcz, options: EncoderOptions(dictionary: .reference(dictionary)))
    }

    @Test(arguments: [true, false])
    func `a short body has a length, unless trailers follow it, which pass`(hasTrailers: Bool) throws {
        let body = Noise.bytes(1000, seed: 6)
        let coded = try encoded(body)
        var upload = UploadDecoding(
            limits: DecoderLimits(maxBytes: .max), memory: MemoryShare(of: budget))
        // RFC 9842 section 5: a magic number of 8 bytes and a hash of 32.
        upload.received(coded.span.extracting(..<39))
        let early = upload.next(hasRoom: true) == nil
        #expect(early, "the header has not come")
        upload.received(coded.span.extracting(39..<40))
        guard case .find(let digest) = upload.next(hasRoom: true) else {
            Issue.record("the header has come")
            return
        }
        #expect(digest == dictionary.digest)
        let finding = (upload.isFinding, upload.wantsInput(hasRoom: true))
        #expect(finding == (true, false), "the client waits while the dictionary is looked for")
        upload.received(coded.span.extracting(40...))
        _ = upload.next(hasRoom: true)
        #expect(budget.takenBytes == coded.count, "what waits for the dictionary is borrowed")
        upload.found(dictionary)
        // A second answer changes nothing.
        upload.found(dictionary)
        let held = (upload.isFinding, upload.wantsInput(hasRoom: false))
        #expect(held == (false, true))
        let undecided = upload.next(hasRoom: true) == nil
        #expect(undecided, "more of the body may come")
        var trailers = Headers()
        if hasTrailers { trailers.append(.etag, "x") }
        upload.receivedEnd(trailers)
        guard case .begin(let framing) = upload.next(hasRoom: false) else {
            Issue.record("the body is whole")
            return
        }
        let expected: BodyFraming = hasTrailers ? .chunked : .length(1000)
        #expect(framing == expected)
        let full = upload.next(hasRoom: false) == nil
        #expect(full, "the upstream takes nothing")
        guard case .write(let piece) = upload.next(hasRoom: true),
            case .finish(let passed) = upload.next(hasRoom: true)
        else {
            Issue.record("the upstream takes all")
            return
        }
        #expect(piece == body && passed.isEmpty == !hasTrailers)
        let over = (upload.wantsInput(hasRoom: true), upload.next(hasRoom: true) == nil)
        #expect(over == (false, true))
    }

    @Test func `a body that ends within its header or its coding fails once, and never begins`() throws {
        let coded = try encoded(Noise.bytes(1000, seed: 6))
        for count in [0, 39, 40, coded.count - 1] {
            var upload = UploadDecoding(
                limits: DecoderLimits(maxBytes: .max), memory: MemoryShare(of: budget))
            upload.received(coded.span.extracting(..<count))
            upload.receivedEnd(Headers())
            var action = upload.next(hasRoom: true)
            if case .find = action {
                upload.found(dictionary)
                action = upload.next(hasRoom: true)
            }
            guard case .fail(.malformed) = action else {
                Issue.record("\(count) bytes are no body")
                continue
            }
            let again = upload.next(hasRoom: true) == nil
            #expect(again)
        }
    }

    @Test func `a body whose dictionary is unknown is read no further`() throws {
        let coded = try encoded(Noise.bytes(1000, seed: 6))
        var upload = UploadDecoding(
            limits: DecoderLimits(maxBytes: .max), memory: MemoryShare(of: budget))
        upload.received(coded.span)
        _ = upload.next(hasRoom: true)
        upload.giveUp()
        upload.found(dictionary)
        let ended = (upload.isFinding, upload.wantsInput(hasRoom: true), upload.next(hasRoom: true) == nil)
        #expect(ended == (false, false, true))
    }

    @Test func `without memory for what waits for its dictionary an upload fails`() throws {
        let coded = try encoded(Noise.bytes(1000, seed: 6))
        let none = MemoryBudget(bytes: 0)
        var upload = UploadDecoding(
            limits: DecoderLimits(maxBytes: .max), memory: MemoryShare(of: none))
        upload.received(coded.span)
        _ = upload.next(hasRoom: true)
        guard case .fail(.noMemory) = upload.next(hasRoom: true) else {
            Issue.record("nothing can be borrowed")
            return
        }
        #expect(none.takenBytes == 0)
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
