import TestSupport
import Testing

@testable import Dictionaries
@testable import Storage

/// The choice of the base that a body is packed over.
@Suite struct PackerTests {
    private var packer = Packer(bytesMax: 8 << 20)

    private func version(_ body: Body, _ number: Int, url: String = "/feed", chain: ChainKey = feedChain)
        -> Version
    {
        let facts = VersionFacts(
            digest: body.digest, url: url, bytes: body.count,
            maxAge: 10)
        return Version(
            facts, id: Int64(number), rank: Int64(number), chain: Chain(chain),
            .held(at: 0))
    }

    @Test mutating func `every form unpacks to its body`() throws {
        for number in 1...40 {
            let body = Body(Feed.bytes(version: number, items: 30))
            let form = packer.pack(body, of: version(body, number), isShared: false)
            let packed = try #require(form)
            #expect(try packed.unpacked().bytes == body.bytes)
            #expect(packed.base?.row != Int64(number))
        }
    }

    @Test mutating func `a feed that drifts gets a new base before the old one costs more than that`() throws
    {
        var (bases, stored, sinceBase, base) = (0, 0, 0, 0)
        for number in 1...200 {
            let body = Body(Feed.bytes(version: number * 3, items: 60))
            let form = packer.pack(body, of: version(body, number), isShared: false)
            let packed = try #require(form)
            stored += packed.frame.count
            if packed.base == nil {
                bases += 1
                (sinceBase, base) = (0, packed.frame.count)
            } else {
                sinceBase += packed.frame.count
                #expect(packed.frame.count * 2 < base)
            }
        }
        #expect(bases > 2 && bases < 50)
        let whole = (1...200).reduce(0) { $0 + Feed.bytes(version: $1 * 3, items: 60).count }
        print("200 drifting bodies of \(whole / 200) bytes: \(stored / 200) each, \(bases) bases")
        #expect(stored * 8 < whole)
    }

    @Test func `a new base is due once frames have exceeded the first one by more than the base takes`() {
        var choice = BaseChoice()
        for (bytes, times) in [(100, 1), (150, 3), (40, 5)] {
            choice.record(frameBytes: bytes, times: times)
        }
        #expect(choice.isNewBaseDue(baseBytes: 149) && !choice.isNewBaseDue(baseBytes: 150))
    }

    @Test func `a base is in memory once, as long as a packed body has it, however many come`() {
        var packs = PackedBodies()
        func keep(_ number: Int, over row: Int64, _ base: Body) -> BodyName {
            let body = sampleBody(1000 + number, count: 8)
            let name = BodyName(scope: .public, digest: body.digest)
            let packed = PackedBody(
                frame: [1, 2, 3], base: PackingBase(row: row, body: base), count: 8, digest: body.digest)
            packs.keep(packed, as: name)
            return name
        }
        let all = (0..<200).map { sampleBody($0, count: 8) }
        let names = all.indices.map { keep($0, over: Int64($0), all[$0]) }
        #expect(all.indices.allSatisfy { packs.base(Int64($0))?.body === all[$0] })
        let again = keep(500, over: 7, sampleBody(7, count: 8))
        #expect(packs.packed(again)?.base?.body === all[7])
        packs.remove(names[7])
        #expect(packs.base(7)?.body === all[7])
        packs.remove(again)
        #expect(packs.base(7) == nil, "nobody has it")
    }

    @Test mutating func `a feed whose bodies have nothing in common costs few trials`() {
        for number in 1...100 {
            let body = sampleBody(number, count: 20_000)
            let packed = packer.pack(body, of: version(body, number), isShared: false)
            #expect(packed == nil)
        }
        let last = sampleBody(100, count: 20_000)
        let packed = packer.pack(last, of: version(last, 101), isShared: false)
        #expect(packed == nil, "the hundredth was not tried, and became no base")
    }

    @Test mutating func `a feed whose bodies come to have much in common is soon packed over a base again`() {
        for number in 1...20 {
            let body = sampleBody(number, count: 5_000)
            _ = packer.pack(body, of: version(body, number), isShared: false)
        }
        // Of each sixteen one is tried: the first becomes the base, over which the next one packs well.
        let first = (21...100).first { number in
            let body = Body(Feed.bytes(version: number % 7, items: 30))
            return packer.pack(body, of: version(body, number), isShared: false)?.base != nil
        }
        #expect(first.map { $0 <= 21 + 32 } == true)
    }

    @Test mutating func `a body that others have on disk is no base, and leans on none`() throws {
        for number in 1...3 {
            let body = Body(Feed.bytes(version: number, items: 30))
            let form = packer.pack(body, of: version(body, number), isShared: number < 3)
            let packed = try #require(form)
            #expect(packed.base == nil)
        }
        let body = Body(Feed.bytes(version: 4, items: 30))
        let form = packer.pack(body, of: version(body, 4), isShared: false)
        let packed = try #require(form)
        #expect(packed.base?.row == 3)
    }

    @Test mutating func `made-up queries and paths use one base, and take no memory each`() throws {
        var bytes = 0
        for number in 1...300 {
            let body = Body(Feed.bytes(version: number % 7, items: 30) + Array("\(number)".utf8))
            let url = number.isMultiple(of: 2) ? "/feed?\(number)" : "/feed/\(number)"
            let form = packer.pack(body, of: version(body, number, url: url), isShared: false)
            let packed = try #require(form)
            #expect(number == 1 || packed.base != nil)
            if number == 20 { bytes = packer.bytes }
        }
        #expect(packer.bytes < bytes + 40_000)
    }

    @Test mutating func `bases at hand keep to their bytes`() {
        packer = Packer(bytesMax: 1 << 20)
        for number in 1...200 {
            let body = Body(Feed.bytes(version: number, items: 60))
            let chain = ChainKey(authority: "api.example", match: "/\(number)")
            _ = packer.pack(body, of: version(body, number, chain: chain), isShared: false)
            #expect(packer.bytes <= (1 << 20) + (1 << 17))
        }
    }
}

/// Frames of the store, which have no header.
@Suite struct ZstdFramesTests {
    @Test func `a frame over another body or alone is unpacked exactly`() throws {
        for items in [0, 1, 30, 900] {
            let (old, new) = (
                Body(Feed.bytes(version: 0, items: items)), Body(Feed.bytes(version: 3, items: items))
            )
            let alone = try ZstdFrames.pack(new)
            #expect(try ZstdFrames.unpack(alone, count: new.count) == new.bytes)
            let over = try ZstdFrames.pack(new, over: PreparedDictionary(old, for: .dcz))
            #expect(try ZstdFrames.unpack(over, count: new.count, over: old) == new.bytes)
        }
        #expect(try ZstdFrames.unpack(ZstdFrames.pack(Body([])), count: 0) == [])
    }

    @Test func `a higher level makes a smaller frame`() throws {
        let body = Body(Feed.bytes(version: 0, items: 300))
        let sizes = try [1, 6, 19].map { try ZstdFrames.pack(body, level: $0).count }
        #expect(sizes == Set(sizes).sorted(by: >), "\(sizes)")
    }

    @Test func `another length, another dictionary, a cut or a changed frame is an error`() throws {
        let (old, new) = (Body(Feed.bytes(version: 0, items: 30)), Body(Feed.bytes(version: 3, items: 30)))
        let frame = try ZstdFrames.pack(new, over: PreparedDictionary(old, for: .dcz))
        for count in [0, new.count - 1, new.count + 1] {
            #expect(throws: CodingError.self) { try ZstdFrames.unpack(frame, count: count, over: old) }
        }
        #expect(throws: CodingError.self) { try ZstdFrames.unpack(frame, count: new.count, over: new) }
        #expect(throws: CodingError.self) { try ZstdFrames.unpack(frame, count: new.count) }
        #expect(throws: CodingError.self) {
            try ZstdFrames.unpack(Array(frame.dropLast()), count: new.count, over: old)
        }
        for place in stride(from: 0, to: frame.count, by: 7) {
            var changed = frame
            changed[place] ^= 0x55
            if let bytes = try? ZstdFrames.unpack(changed, count: new.count, over: old) {
                #expect(bytes == new.bytes, "byte \(place)")
            }
        }
    }
}
