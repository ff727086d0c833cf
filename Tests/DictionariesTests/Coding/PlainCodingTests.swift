internal import Dictionaries
internal import Foundation
internal import TestSupport
internal import Testing

/// A coding that is preferred to gzip sends no more than the usual gzip: zlib in Python, with the parameters of
/// nginx.
@Suite struct PlainCodingTests {
    /// Responses of Django, Django REST framework, Flask, FastAPI and datasette, and a bundle of scripts.
    static let names = [
        "databases.json", "products-5.json", "openapi.json", "page.json", "products.html", "products.json",
        "table.json", "browsable.html", "bundle.js", "table.html",
    ]

    static func body(_ name: String) throws -> [UInt8] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../Corpora/Responses")
        return [UInt8](try Data(contentsOf: folder.appending(path: name)))
    }

    /// The bytes of `gzip -6`: level 6, the window of 15 bits with a gzip header, and memory level 8.
    static func gzipBytes(_ body: [UInt8]) throws -> Int {
        let script =
            "import sys,zlib; c=zlib.compressobj(6,zlib.DEFLATED,31,8); d=sys.stdin.buffer.read(); print(len(c.compress(d)+c.flush()))"
        let output = try ForeignTool.run("/usr/bin/python3", ["-c", script], input: body)
        let text = String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        return try #require(Int(text))
    }

    static func chosen(_ accept: String, _ change: (inout ResponseFacts) -> Void) -> ContentCoding {
        Facts.decide(
            Facts.request(accept: accept) { $0.availableDictionary = nil }, Facts.response(change),
            Facts.route(),
            .noneOffered
        ).coding
    }

    @Test(arguments: names, ["gzip, br, zstd", "gzip, zstd", "gzip, br"])
    func `a whole body in the coding of our choice is no longer than gzip -6 makes it`(
        name: String, accept: String
    ) throws {
        let body = try Self.body(name)
        let coding = Self.chosen(accept) { $0.bodyBytes = body.count }
        let coded = try Codec.encode(body.span, coding)
        let gzip = try Self.gzipBytes(body)
        // If the coding is gzip itself, another library may take 1 % more.
        #expect(
            coded.count <= (coding == .gzip ? gzip + gzip / 100 : gzip),
            "\(coding) \(coded.count), gzip -6 \(gzip)")
    }

    @Test(arguments: names, ["gzip, br, zstd", "gzip, zstd", "gzip, br"])
    func `a stream in the coding of our choice is no longer than gzip -6 makes it`(
        name: String, accept: String
    ) throws {
        let body = try Self.body(name)
        // A body that comes at once is whole at the time of the choice.
        let coding = Self.chosen(accept) {
            $0.bodyBytes = nil
            $0.bodyBytesSeen = body.count
        }
        let encoder = try Codec.encoder(for: coding)
        var coded: [UInt8] = []
        for start in stride(from: 0, to: body.count, by: 8192) {
            try encoder.encode(
                body.span.extracting(start..<min(start + 8192, body.count)), .more, into: &coded)
        }
        coded += try encoder.encode([], .end)
        #expect(coded.count <= (try Self.gzipBytes(body)))
    }

    @Test(arguments: [ContentCoding.gzip, .br, .zstd], names)
    func `a given level is the one that is used, and its memory is within the estimate`(
        coding: ContentCoding, name: String
    ) throws {
        let body = try Self.body(name)
        let levels = coding == .gzip ? 1...9 : coding == .br ? 1...11 : 1...19
        var (sizes, wholeSizes): ([Int], [Int]) = ([], [])
        for level in levels {
            let options = EncoderOptions(bodyBytes: body.count, level: level)
            let whole = try Codec.encode(body.span, coding, options: options)
            #expect(try Corpus.decodedPlain(whole, coding) == body)
            wholeSizes.append(whole.count)
            let encoder = try Codec.encoder(for: coding, options: options)
            let coded = try encoder.encode(body, .flush)
            sizes.append(coded.count)
            // A context of Zstandard keeps the memory of the largest body before.
            let kept = coding == .zstd ? 8 << 20 : 0
            let estimate = Codec.memoryEstimate(for: coding, options: options)
            #expect(encoder.memoryBytes <= max(estimate, kept), "level \(level)")
        }
        #expect(try #require(sizes.last) < sizes[0])
        #expect(try #require(wholeSizes.last) < wholeSizes[0])
    }

    @Test func `gzip comes before zstd below 24 KiB, and before br below 128 KiB`() {
        for (bytes, coding) in [
            (300, ContentCoding.gzip), (24_575, .gzip), (24_576, .zstd), (1 << 20, .zstd),
        ] {
            #expect(Self.chosen("gzip, br, zstd") { $0.bodyBytes = bytes } == coding, "\(bytes)")
        }
        for (bytes, coding) in [(131_071, ContentCoding.gzip), (131_072, .br)] {
            #expect(Self.chosen("gzip, br") { $0.bodyBytes = bytes } == coding, "\(bytes)")
        }
    }

    @Test func `gzip comes before no coding that the client likes better, and none that is alone`() {
        #expect(Self.chosen("gzip;q=0.5, zstd") { $0.bodyBytes = 300 } == .zstd)
        #expect(Self.chosen("zstd, br") { $0.bodyBytes = 300 } == .zstd)
        #expect(Self.chosen("br") { $0.bodyBytes = 300 } == .br)
    }

    @Test func `a stream of which little has come goes out as gzip`() {
        for (seen, coding) in [(0, ContentCoding.gzip), (24_575, .gzip), (24_576, .zstd)] {
            let chosen = Self.chosen("gzip, br, zstd") {
                $0.bodyBytes = nil
                $0.bodyBytesSeen = seen
            }
            #expect(chosen == coding, "\(seen)")
        }
    }

    @Test func `a coding whose level is given, or that stands alone in the list, keeps its place`() {
        let request = Facts.request(accept: "gzip, br, zstd") { $0.availableDictionary = nil }
        let response = Facts.response { $0.bodyBytes = 300 }
        for (preference, coding) in [
            (CodingPreference([.zstd, .br, .gzip], levels: CodingLevels(zstd: 3)), ContentCoding.zstd),
            (CodingPreference([.zstd, .br, .gzip], levels: CodingLevels(br: 5)), .br),
            (CodingPreference([.zstd, .br]), .zstd),
        ] {
            let decision = Negotiation.decide(
                request: request, response: response, route: Facts.route(), dictionary: .noneOffered,
                serverPreference: preference)
            #expect(decision.coding == coding)
        }
    }

    @Test func `a stream takes no level that would keep its loop busy`() {
        let levels = CodingLevels(gzip: 9, br: 11, zstd: 19)
        #expect([ContentCoding.gzip, .br, .zstd].map(levels.givenForStream) == [9, 5, 9])
        #expect([ContentCoding.gzip, .br, .zstd].map(levels.isSlow) == [false, true, true])
        #expect(CodingLevels().givenForStream(.br) == nil)
    }
}

extension Corpus {
    fileprivate static func decodedPlain(_ coded: [UInt8], _ coding: ContentCoding) throws -> [UInt8] {
        try Codec.decode(coded.span, coding, limits: roomyLimits)
    }
}
