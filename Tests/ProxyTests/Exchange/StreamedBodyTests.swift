internal import Dictionaries
internal import HTTP
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let json = Feed.bytes(version: 0, items: 40)

/// Bodies that go out piece by piece: what an encoder owes the client, and what the store gets of them.
@Suite struct StreamedBodyTests {
    private let budget = MemoryBudget(bytes: 64 << 20)
    private var share: MemoryShare { MemoryShare(of: budget) }

    // MARK: Memory

    @Test func `the end of a decoded stream gives back what waits and the memory of its decoder`() throws {
        var body = try heldDecoded()
        let isReserved = body.reserveDecoder()
        let held = body.takeHeld()
        body.stream(held, .none, copy: nil, after: SentResponse(length: nil))
        #expect(isReserved && budget.takenBytes > 0)
        body.end()
        #expect(budget.takenBytes == 0)
    }

    @Test func `once its client has room, a decoded stream keeps no memory of what was held`() throws {
        var body = try heldDecoded()
        _ = body.reserveDecoder()
        let held = body.takeHeld()
        body.stream(held, .none, copy: nil, after: SentResponse(length: nil))
        let waiting = actions(of: &body, hasRoom: false)
        let before = budget.takenBytes
        _ = actions(of: &body)
        #expect(!waiting.written.isEmpty && json.starts(with: waiting.written))
        #expect(budget.takenBytes + waiting.written.count <= before)
    }

    // MARK: Encoders of another thread

    @Test func `what comes coded while an encoder is made is decoded before it is coded again`() throws {
        var body = ResponseBody(memory: share)
        _ = body.decode(.gzip)
        body.stream(nil, .underWay(EncoderMemory()), copy: nil, after: SentResponse(length: nil))
        let coded = try Codec.encode(json.span, .gzip)
        _ = body.received(coded.span)
        body.receivedEnd(trailers: Headers())
        body.encoderReady(opened(.br))
        let log = actions(of: &body)
        #expect(log.names.last == "finish")
        #expect(try decoded(log.written, .br) == json)
    }

    @Test func `what an encoder of another thread keeps back is flushed, though nothing follows`() throws {
        var body = ResponseBody(memory: share)
        let held = HeldBody(whole: json, memory: share)
        body.stream(held, .underWay(EncoderMemory()), copy: nil, after: SentResponse(length: nil))
        body.encoderReady(opened(.gzip, held: json))
        let first = actions(of: &body)
        #expect(first.names.contains("flush"))
        body.deadlinePassed()
        let written = first.written + actions(of: &body).written
        let decoder = try Codec.decoder(for: .gzip, limits: DecoderLimits(maxBytes: 1 << 20))
        var plain: [UInt8] = []
        try decoder.decode(written.span, into: &plain)
        #expect(plain == json)
    }

    @Test func `the time of another thread counts beside that of the loop`() {
        let held = Feed.bytes(version: 0, items: 4_000)
        var body = ResponseBody(memory: share)
        body.stream(nil, .underWay(EncoderMemory()), copy: nil, after: SentResponse(length: nil))
        _ = body.received(json.span)
        let encoder = opened(.br, held: held)
        body.encoderReady(encoder)
        let counted = actions(of: &body).nanoseconds
        #expect(counted >= encoder.nanoseconds)
    }

    @Test func `after a flush the next piece is flushed soon, too`() throws {
        let encoder = try Codec.encoder(for: .gzip)
        var body = ResponseBody(memory: share)
        body.stream(nil, .ready(encoder, EncoderMemory()), copy: nil, after: SentResponse(length: nil))
        for piece in [Array(json[..<1000]), Array(json[1000...])] {
            _ = body.received(piece.span)
            let names = actions(of: &body).names
            #expect(names.contains("flush"))
            body.deadlinePassed()
            _ = actions(of: &body)
        }
    }

    // MARK: Copies

    @Test(arguments: [true, false])
    func `a coded stream is copied whole, and its last bytes wait for the store`(isMadeHere: Bool) throws {
        let (first, rest) = (Array(json[..<1000]), Array(json[1000...]))
        let (store, slot) = try storeWithSlot()
        defer { store.close() }
        var body = ResponseBody(memory: share)
        let held = HeldBody(whole: first, memory: share)
        let copy = VersionCopy(slot: slot, bytesMax: 1 << 20)
        if isMadeHere {
            let encoder = try Codec.encoder(for: .zstd)
            body.stream(held, .ready(encoder, EncoderMemory()), copy: copy, after: SentResponse(length: nil))
        } else {
            body.stream(held, .underWay(EncoderMemory()), copy: copy, after: SentResponse(length: nil))
        }
        _ = body.received(rest.span)
        body.receivedEnd(trailers: Headers())
        if !isMadeHere { body.encoderReady(opened(.zstd, held: first)) }
        let before = actions(of: &body)
        #expect(before.names.last == "admit")
        #expect(before.copy == json)
        body.admissionSettled()
        let after = actions(of: &body)
        #expect(after.names.first == "write" && after.names.last == "finish")
        #expect(try decoded(before.written + after.written, .zstd) == json)
    }

    @Test func `the store learns how many bytes the whole delta has`() throws {
        let (store, slot) = try storeWithSlot()
        defer { store.close() }
        let dictionary = Body(json)
        let options = EncoderOptions(dictionary: .reference(dictionary))
        let encoder = try Codec.encoder(for: .dcz, options: options)
        let copy = VersionCopy(slot: slot, bytesMax: 1 << 20)
        var body = ResponseBody(memory: share)
        body.stream(nil, .ready(encoder, EncoderMemory()), copy: copy, after: SentResponse(length: nil))
        let next = Feed.bytes(version: 1, items: 40)
        _ = body.received(next.span.extracting(..<1000))
        body.deadlinePassed()
        let first = actions(of: &body)
        _ = body.received(next.span.extracting(1000...))
        body.receivedEnd(trailers: Headers())
        let second = actions(of: &body)
        body.admissionSettled()
        let delta = first.written + second.written + actions(of: &body).written
        #expect(try decoded(delta, .dcz, over: dictionary) == next)
        #expect(!first.written.isEmpty && second.deltaBytes == delta.count)
    }

    @Test func `a body whose copy is behind does not pass without a turn of its own`() throws {
        let (store, slot) = try storeWithSlot()
        defer { store.close() }
        let coded = try Codec.encode(json.span, .gzip)
        let removal = CodingRemoval(.gzip, limits: DecoderLimits(maxBytes: 1 << 20), memory: share)
        let copy = VersionCopy(slot: slot, bytesMax: 1 << 20, removal: removal)
        var body = ResponseBody(memory: share)
        body.stream(nil, .none, copy: copy, after: SentResponse(length: nil))
        let before = body.isPassing
        _ = body.received(coded.span)
        let behind = body.isPassing
        _ = actions(of: &body)
        let after = body.isPassing
        #expect(before && !behind && after)
    }

    @Test func `a copy whose upstream's coding is cut off is never admitted`() throws {
        let (store, slot) = try storeWithSlot()
        defer { store.close() }
        let coded = Array(try Codec.encode(json.span, .gzip).dropLast(4))
        let removal = CodingRemoval(.gzip, limits: DecoderLimits(maxBytes: 1 << 20), memory: share)
        let copy = VersionCopy(slot: slot, bytesMax: 1 << 20, removal: removal)
        var body = ResponseBody(memory: share)
        body.stream(nil, .none, copy: copy, after: SentResponse(length: nil))
        let passes = body.received(coded.span)
        _ = actions(of: &body)
        body.receivedEnd(trailers: Headers())
        let end = actions(of: &body)
        #expect(passes && end.copy == nil)
        #expect(end.names.last == "finish")
    }
}

// MARK: - Helpers

/// The actions that were taken out, by name, and what those say.
private struct Actions {
    var names: [String] = []
    var written: [UInt8] = []
    var copy: [UInt8]?
    var deltaBytes: Int?
    var nanoseconds = 0
}

extension StreamedBodyTests {
    /// A body that is held decoded, and has come but for its last bytes.
    private func heldDecoded() throws -> ResponseBody {
        var body = ResponseBody(memory: share)
        let original = HeldBody.Original(coding: .gzip, isAccepted: false)
        _ = body.hold(expecting: nil, bytesMax: 1 << 20, original: original)
        let coded = try Codec.encode(json.span, .gzip)
        _ = body.received(coded.span.extracting(..<(coded.count - 4)))
        _ = actions(of: &body)
        return body
    }

    private func actions(of body: inout ResponseBody, hasRoom: Bool = true) -> Actions {
        var taken = Actions()
        while let action = body.next(hasRoom: hasRoom) {
            switch action {
            case .write(let bytes):
                taken.written += bytes
                taken.names.append("write")
            case .admit(let copy, let deltaBytes):
                (taken.copy, taken.deltaBytes) = (copy, deltaBytes)
                taken.names.append("admit")
            case .countCoding(_, let nanoseconds): taken.nanoseconds += nanoseconds
            case .flushSoon: taken.names.append("flush")
            case .finish: taken.names.append("finish")
            default: taken.names.append("other")
            }
        }
        return taken
    }

    private func opened(_ coding: ContentCoding, held: [UInt8] = []) -> OpenedEncoder {
        let resources = CodingResources(
            pool: CompressionPool(width: 1), memory: budget,
            deltas: Deltas(preparedBytes: 1 << 20, cacheBytes: 1 << 20), report: { _ in })
        return OpenedEncoder(
            coding, options: EncoderOptions(), scope: .public, held: held, isChecked: false,
            resources: resources, memory: share)
    }

    private func storeWithSlot() throws -> (DictionaryStore, AdmissionSlot) {
        let store = try DictionaryStore(configuration: StoreConfiguration(path: ":memory:"))
        let chain = ChainKey(authority: "a.example", match: "/feed")
        let slot = try store.admission.reserve(
            VersionKey(chain: chain, url: "/feed", variant: ""), bytes: nil, policy: AdmissionPolicy())
        return (store, slot)
    }

    private func decoded(
        _ bytes: [UInt8], _ coding: ContentCoding, over dictionary: Body? = nil
    ) throws -> [UInt8] {
        try Codec.decode(
            bytes.span, coding, dictionary: dictionary,
            limits: DecoderLimits(maxBytes: 1 << 20, maxRatio: 1 << 20))
    }
}
