internal import Dictionaries
internal import Primitives
internal import TestSupport
internal import Testing

@testable import Proxy

private let json = Feed.bytes(version: 0, items: 40)

/// The limits of held bodies, and the memory that they borrow.
struct HeldBodyTests {
    private let budget = MemoryBudget(bytes: 64 << 20)
    private var share: MemoryShare { MemoryShare(of: budget) }

    @Test(arguments: [true, false])
    func `a body as large as the limit is held, and one that is a byte larger is streamed`(fits: Bool) {
        var held = HeldBody(
            expecting: nil, bytesMax: json.count - (fits ? 0 : 1), memory: share)
        held.append(json.span)
        held.checkSize(isInflated: false)
        let mustStream = held.mustStream
        #expect(mustStream == !fits)
    }

    @Test func `a body is inflated if decoding makes it more than a hundred times as large`() {
        #expect(!HeldBody.isInflated(bytes: 1_000, from: 10))
        #expect(HeldBody.isInflated(bytes: 1_001, from: 10))
    }

    @Test func `a body that is held decoded borrows for the upstream's bytes, too`() {
        var held = HeldBody(
            expecting: nil, bytesMax: 1 << 20, memory: share,
            original: HeldBody.Original(coding: .gzip, isAccepted: true))
        held.original?.bytes = Noise.bytes(200_000, seed: 3)
        held.append(Noise.bytes(100_000, seed: 4).span)
        held.checkSize(isInflated: false)
        #expect(budget.takenBytes >= 300_000)
        _ = consume held
        #expect(budget.takenBytes == 0)
    }

    @Test func `a dictionary that comes before the end of a body has nothing prepared`() {
        var body = ResponseBody(memory: share)
        _ = body.hold(expecting: nil, bytesMax: 1 << 20)
        _ = body.received(json.span.extracting(..<100))
        body.dictionarySettled()
        let isAsked = body.next(hasRoom: true) != nil
        let (isHeld, isWhole) = (body.isHeld, body.isHeldWhole)
        #expect(!isAsked && isHeld && !isWhole)
    }

    @Test(arguments: [true, false])
    func `of what was borrowed only the held bytes stay, until the client has room`(isCoded: Bool) throws {
        var body = ResponseBody(memory: share)
        _ = body.hold(expecting: 1 << 20, bytesMax: 1 << 20)
        _ = body.received(json.span)
        #expect(budget.takenBytes == 1 << 20)
        let held = body.takeHeld()
        if isCoded {
            let encoder = try Codec.encoder(for: .gzip)
            body.stream(held, .ready(encoder, EncoderMemory()), copy: nil, after: SentResponse(length: nil))
        } else {
            body.stream(held, .none, copy: nil, after: SentResponse(length: nil))
        }
        while body.next(hasRoom: false) != nil {}
        #expect(budget.takenBytes == json.count)
        while body.next(hasRoom: true) != nil {}
        #expect(budget.takenBytes == 0)
    }
}
