internal import Dictionaries
internal import HTTP
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let json = Feed.bytes(version: 0, items: 40)

/// The body machine without sockets: events in, actions out.
@Suite struct ResponseBodyTests {
    private let budget = MemoryBudget(bytes: 64 << 20)
    private var share: MemoryShare { MemoryShare(of: budget) }

    // MARK: Failures

    @Test func `a held body that is not in its coding fails before a byte of it goes out`() {
        var body = held(coding: .gzip)
        let log = send(Array("no gzip".utf8), to: &body)
        #expect(log.names == ["malformed"])
        #expect(log.written == [])
        #expect(budget.takenBytes == 0, "nothing stays borrowed")
    }

    @Test func `a held body whose coding is cut off fails at its end`() throws {
        let coded = try Codec.encode(json.span, .gzip)
        var body = held(coding: .gzip)
        let first = send(Array(coded.dropLast(4)), to: &body)
        let end = end(&body)
        #expect((first.names, end.names) == ([], ["malformed"]))
        #expect(budget.takenBytes == 0)
    }

    @Test func `a decoded stream whose coding is cut off fails after what came of it`() throws {
        let coded = try Codec.encode(json.span, .gzip)
        var body = streamed(.none, coding: .gzip)
        let first = send(Array(coded.dropLast(4)), to: &body)
        let end = end(&body)
        #expect(json.starts(with: first.written) && !first.written.isEmpty)
        #expect(end.names == ["malformed"])
        #expect(budget.takenBytes == 0)
    }

    @Test func `without memory a held body goes out as the upstream coded it`() throws {
        let coded = try Codec.encode(json.span, .gzip)
        let none = MemoryBudget(bytes: 0)
        var body = ResponseBody(memory: MemoryShare(of: none))
        _ = body.hold(
            expecting: nil, bytesMax: 1 << 20, original: HeldBody.Original(coding: .gzip, isAccepted: false))
        let asked = send(coded, to: &body)
        #expect(asked.names == ["original"])
        let sent = SentResponse(length: nil)
        var held = body.takeHeld()
        guard let original = held?.original else { throw Unexpected() }
        body.streamOriginal(original, memory: held?.takeMemory(), after: sent)
        let isWanted = body.wantsInput
        let log = end(&body)
        #expect(isWanted)
        #expect(log.written == coded)
        #expect(log.names == ["write", "finish"])
    }

    @Test func `without memory for the rest a decoded stream breaks off`() throws {
        let coded = try Codec.encode(json.span, .gzip)
        let small = MemoryBudget(bytes: 0)
        var body = ResponseBody(memory: MemoryShare(of: small))
        _ = body.decode(.gzip)
        body.stream(nil, .none, copy: nil, after: SentResponse(length: nil))
        #expect(send(coded, to: &body).names == ["no memory"])
        let isOver = send(coded, to: &body)
        #expect(isOver.names == [], "what comes then is thrown away")
    }

    @Test func `an encoder that could not be made ends the response`() {
        var body = streamed(.underWay(EncoderMemory()))
        #expect(send(json, to: &body).names == [])
        body.encoderReady(opened(.dcz, held: []))
        #expect(actions(of: &body).names == ["encoder"], "dcz has no dictionary here")
    }

    @Test func `an encoder that fails ends the response, and nothing stays borrowed`() throws {
        // An encoder throws if it was given another length.
        let encoder = try Codec.encoder(for: .zstd, options: EncoderOptions(bodyBytes: 3))
        let memory = EncoderMemory(encoder: MemoryLoan(1000, from: share))
        var body = streamed(.ready(encoder, memory))
        let log = send(json, to: &body) + end(&body)
        #expect(log.names.last == "encoder")
        #expect(budget.takenBytes == 0)
    }

    @Test func `an end frees all that is held`() throws {
        var body = held()
        _ = send(json, to: &body)
        #expect(budget.takenBytes >= json.count)
        body.end()
        #expect(budget.takenBytes == 0)
        #expect(send(json, to: &body).names == [])
        #expect(end(&body).names == [])
    }

    @Test func `a body of which most is decoded from little is held up to a megabyte only`() throws {
        let coded = try Codec.encode([UInt8](repeating: 0x20, count: 3 << 20).span, .gzip)
        var body = held(coding: .gzip, bytesMax: 64 << 20)
        let first = send(coded, to: &body)
        body.resume()
        #expect((first.names, actions(of: &body).names) == (["yield"], ["stream"]))
    }

    // MARK: Held bodies

    @Test func `a held body is prepared once it is whole, and again once its dictionary is there`() {
        var body = held()
        #expect(send(json, to: &body).names == [])
        #expect(end(&body).names == ["prepare"])
        #expect(actions(of: &body).names == [], "asked once")
        body.dictionarySettled()
        #expect(actions(of: &body).names == ["prepare"])
        let bytes = body.prepare()?.bytes
        #expect(bytes == json)
        #expect(actions(of: &body).names == [], "the job is under way")
    }

    @Test func `a held body that is too large or too late is streamed`() {
        var large = held(bytesMax: json.count - 1)
        #expect(send(json, to: &large).names == ["stream"])
        var late = held()
        _ = send(json, to: &late)
        late.deadlinePassed()
        #expect(actions(of: &late).names == ["stream"])
        var whole = held()
        _ = send(json, to: &whole)
        _ = end(&whole)
        whole.deadlinePassed()
        #expect(actions(of: &whole).names == ["prepare"], "a whole one is prepared without waiting on")
    }

    @Test func `a whole body goes out as fast as the client takes it`() {
        let large = [UInt8](repeating: 1, count: 200_000)
        var body = held()
        _ = body.takeHeld()
        let memory = MemoryLoan(300_000, from: share)
        body.send(large, memory: memory, after: SentResponse(length: 200_000))
        let blocked = actions(of: &body, hasRoom: false)
        #expect(blocked.names == [])
        #expect(budget.takenBytes == 200_000, "the body that it was made of waits no more")
        let first = body.next(hasRoom: true)
        guard case .write(let slice)? = first else { return #expect(Bool(false), "no slice") }
        #expect(slice.count == 65_536)
        let rest = actions(of: &body)
        #expect(slice.count + rest.written.count == large.count)
        #expect(rest.names.last == "finish")
        #expect(budget.takenBytes == 0)
    }

    // MARK: Streams

    @Test func `the upstream's bytes pass without a copy`() {
        var body = streamed(.none)
        let passes = body.received(json.span)
        #expect(passes)
        #expect(actions(of: &body).names == [])
        #expect(end(&body).names == ["finish"])
    }

    @Test func `a decoded stream goes on only while the client takes it, and its upstream waits`() throws {
        let coded = try Codec.encode([UInt8](repeating: 0x20, count: 900_000).span, .gzip)
        var body = streamed(.none, coding: .gzip)
        let passes = body.received(coded.span)
        let blocked = actions(of: &body, hasRoom: false)
        let isWanted = body.wantsInput
        #expect(!passes && !isWanted && blocked.names == [])
        body.receivedEnd(trailers: Headers())
        #expect(actions(of: &body, hasRoom: false).names == [])
        body.resume()
        let log = actions(of: &body)
        #expect(log.written.count == 900_000)
        #expect(log.names.last == "finish")
    }

    @Test func `a long turn of decoding yields to others`() throws {
        let coded = try Codec.encode([UInt8](repeating: 0x20, count: 3 << 20).span, .gzip)
        var body = streamed(.none, coding: .gzip)
        let first = send(coded, to: &body)
        #expect(first.names.last == "yield")
        #expect((1 << 20...2 << 20).contains(first.written.count))
        body.resume()
        let second = actions(of: &body)
        #expect(second.names.last == "yield")
    }

    @Test(arguments: [ContentCoding.gzip, .br, .zstd])
    func `what waits for an encoder is coded once that is there`(coding: ContentCoding) throws {
        let (first, rest) = (Array(json[..<1000]), Array(json[1000...]))
        var body = streamed(.underWay(EncoderMemory()), held: first)
        let isWanted = body.wantsInput
        var log = send(rest, to: &body) + end(&body)
        #expect(!isWanted && log.names == [])
        body.encoderReady(opened(coding, held: first))
        log = actions(of: &body)
        #expect(log.names.last == "finish")
        #expect(try decoded(log.written, coding) == json)
    }

    @Test func `an encoder that keeps bytes back is flushed after a while`() throws {
        let encoder = try Codec.encoder(for: .gzip)
        var body = streamed(.ready(encoder, EncoderMemory()))
        let first = send(json, to: &body)
        #expect(first.names.contains("flush"))
        body.deadlinePassed()
        let flushed = actions(of: &body)
        #expect(try started(first.written + flushed.written, .gzip) == json)
        body.deadlinePassed()
        #expect(actions(of: &body).names == [], "there is nothing to flush")
        let last = end(&body)
        #expect(try decoded(first.written + flushed.written + last.written, .gzip) == json)
    }

    @Test func `events are flushed one by one`() throws {
        let encoder = try Codec.encoder(for: .gzip)
        var body = ResponseBody(memory: share, isEventStream: true)
        body.stream(nil, .ready(encoder, EncoderMemory()), copy: nil, after: SentResponse(length: nil))
        let first = send(json, to: &body)
        #expect(!first.names.contains("flush"))
        #expect(try started(first.written, .gzip) == json)
    }

    // MARK: Copies

    @Test func `the last bytes of a body wait until the store has its copy`() throws {
        let (store, slot) = try storeWithSlot()
        defer { store.close() }
        let copy = VersionCopy(slot: slot, bytesMax: 1 << 20)
        var body = ResponseBody(memory: share)
        body.stream(nil, .none, copy: copy, after: SentResponse(length: UInt64(json.count)))
        let (first, last) = (Array(json[..<1000]), Array(json[1000...]))
        let sent = (send(first, to: &body), send(last, to: &body))
        #expect(sent.0.written == first)
        #expect(sent.1.names == [])
        let end = end(&body)
        #expect(end.names == ["admit"])
        #expect(end.copy == json)
        #expect(actions(of: &body).names == [])
        let isAwaited = body.awaitedSlot === slot
        body.admissionSettled()
        let log = actions(of: &body)
        #expect(isAwaited)
        #expect(log.written == last)
        #expect(log.names == ["write", "finish"])
    }

    @Test(arguments: [true, false])
    func `a copy that grows beyond its limit is dropped, and the body goes on`(fits: Bool) throws {
        let (store, slot) = try storeWithSlot()
        defer { store.close() }
        let copy = VersionCopy(slot: slot, bytesMax: json.count - (fits ? 0 : 1))
        var body = ResponseBody(memory: share)
        body.stream(nil, .none, copy: copy, after: SentResponse(length: UInt64(json.count)))
        let log = send(json, to: &body) + end(&body)
        #expect(log.written == (fits ? [] : json))
        #expect(log.names.joined(separator: " ") == (fits ? "admit" : "write finish"))
    }

    @Test(arguments: [true, false])
    func `a copy decodes what goes on coded, and is given up if that fails`(isValid: Bool) throws {
        let (store, slot) = try storeWithSlot()
        defer { store.close() }
        let coded = isValid ? try Codec.encode(json.span, .gzip) : Array("no gzip".utf8)
        let removal = CodingRemoval(.gzip, limits: DecoderLimits(maxBytes: 1 << 20), memory: share)
        let copy = VersionCopy(slot: slot, bytesMax: 1 << 20, removal: removal)
        var body = ResponseBody(memory: share)
        body.stream(nil, .none, copy: copy, after: SentResponse(length: nil))
        let sent = send(coded, to: &body)
        let end = end(&body)
        #expect(sent.written == coded)
        #expect(end.names == (isValid ? ["admit"] : ["finish"]))
        #expect(end.copy == (isValid ? json : nil))
    }

    @Test func `a copy of what a few bytes stand for is decoded in turns, with no more input meanwhile`()
        throws
    {
        let (store, slot) = try storeWithSlot()
        defer { store.close() }
        let whole = Feed.bytes(version: 0, items: 12_000)
        let coded = try Codec.encode(whole.span, .gzip)
        #expect(whole.count > 2 << 20)
        let removal = CodingRemoval(.gzip, limits: DecoderLimits(maxBytes: 8 << 20), memory: share)
        let copy = VersionCopy(slot: slot, bytesMax: 8 << 20, removal: removal)
        var body = ResponseBody(memory: share)
        body.stream(nil, .none, copy: copy, after: SentResponse(length: nil))
        let sent = send(coded, to: &body)
        let wantsInput = body.wantsInput
        #expect(sent.written == coded && sent.names.last == "yield" && !wantsInput)
        var log = end(&body)
        var turns = 1
        while log.names == ["yield"], turns < 10 {
            body.resume()
            log = actions(of: &body)
            turns += 1
        }
        #expect(turns > 1 && log.names == ["admit"])
        #expect(log.copy == whole)
    }

    @Test func `a response without a body ends with the upstream's`() {
        var body = ResponseBody(memory: share)
        #expect(actions(of: &body).names == [])
        #expect(end(&body).names == ["finish"])
    }
}

// MARK: - Helpers

private struct Unexpected: Error {}

/// The actions that were taken out, by name, and the bytes of those that write.
private struct Log {
    var names: [String] = []
    var written: [UInt8] = []
    var copy: [UInt8]?

    static func + (first: Log, second: Log) -> Log {
        Log(
            names: first.names + second.names, written: first.written + second.written,
            copy: second.copy ?? first.copy)
    }
}

extension ResponseBodyTests {
    private func held(coding: ContentCoding? = nil, bytesMax: Int = 1 << 20) -> ResponseBody {
        var body = ResponseBody(memory: share)
        let original = coding.map { HeldBody.Original(coding: $0, isAccepted: false) }
        _ = body.hold(expecting: nil, bytesMax: bytesMax, original: original)
        return body
    }

    private func streamed(
        _ way: consuming StreamCoding, coding: ContentCoding? = nil, held bytes: [UInt8] = []
    ) -> ResponseBody {
        var body = ResponseBody(memory: share)
        if let coding { _ = body.decode(coding) }
        let held = bytes.isEmpty ? nil : HeldBody(whole: bytes, memory: share)
        body.stream(held, way, copy: nil, after: SentResponse(length: nil))
        return body
    }

    /// Gives the machine a piece of the upstream's body, and takes its actions out.
    private func send(_ bytes: [UInt8], to body: inout ResponseBody) -> Log {
        let passes = body.received(bytes.span)
        let log = passes ? Log(names: ["write"], written: bytes) : Log()
        return log + actions(of: &body)
    }

    private func end(_ body: inout ResponseBody) -> Log {
        body.receivedEnd(trailers: Headers())
        return actions(of: &body)
    }

    private func actions(of body: inout ResponseBody, hasRoom: Bool = true) -> Log {
        var log = Log()
        while let action = body.next(hasRoom: hasRoom) {
            switch action {
            case .write(let bytes):
                log.written += bytes
                if log.names.last != "write" { log.names.append("write") }
            case .stream: log.names.append("stream")
            case .streamOriginal: log.names.append("original")
            case .prepare: log.names.append("prepare")
            case .admit(let copy, _):
                log.copy = copy
                log.names.append("admit")
            case .flushSoon: log.names.append("flush")
            case .yield: log.names.append("yield")
            case .countCoding: break
            case .finish: log.names.append("finish")
            case .fail(.malformed): log.names.append("malformed")
            case .fail(.noMemory): log.names.append("no memory")
            case .fail(.encoder): log.names.append("encoder")
            }
            // The exchange changes the stage then.
            if ["stream", "original"].contains(log.names.last) { return log }
        }
        return log
    }

    private func opened(_ coding: ContentCoding, held: [UInt8]) -> OpenedEncoder {
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

    private func decoded(_ bytes: [UInt8], _ coding: ContentCoding) throws -> [UInt8] {
        let decoder = try Codec.decoder(for: coding, limits: DecoderLimits(maxBytes: 1 << 20))
        var plain: [UInt8] = []
        try decoder.decode(bytes.span, into: &plain)
        try decoder.finish()
        return plain
    }

    /// Decodes the beginning of a stream.
    private func started(_ bytes: [UInt8], _ coding: ContentCoding) throws -> [UInt8] {
        let decoder = try Codec.decoder(for: coding, limits: DecoderLimits(maxBytes: 1 << 20))
        var plain: [UInt8] = []
        try decoder.decode(bytes.span, into: &plain)
        return plain
    }
}
