internal import Dictionaries
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let small = (Feed.bytes(version: 0, items: 120), Feed.bytes(version: 1, items: 120))
private let large = (Feed.bytes(version: 0, items: 850), Feed.bytes(version: 1, items: 850))
/// Bodies that are compared on the loop only because they repeat a version while they arrive.
private let huge = (Feed.bytes(version: 0, items: 5_000), Feed.bytes(version: 1, items: 5_000))
private let allPlaces = 16 << 20

@Suite(.timeLimit(.minutes(40))) struct BusyTests {
    private func full(_ bodies: ([UInt8], [UInt8]), _ second: [UInt8]? = nil) throws -> (TestProxy, [Gate]) {
        let proxy = try TestProxy(
            Origin([json(bodies.0), second ?? json(bodies.1)]), "explain: true")
        _ = try proxy.fetch("/feed")
        return (proxy, try proxy.blockPool(bytes: allPlaces))
    }

    @Test(arguments: [
        ("dcz, zstd, gzip", "zstd"), ("dcz, zstd;q=0.1, gzip", "zstd"),
        ("dcz, zstd;q=0.1, identity;q=0.5", "identity"), ("dcz, br", "identity"),
        ("dcz", "identity"), ("gzip, dcz, identity;q=0", "identity"), ("dcb, zstd;q=0.2", "zstd"),
    ])
    func `with all places taken an answer goes out now in what the loop can do, and says busy`(
        accept: String, coding: String
    ) throws {
        let (proxy, gates) = try full(small)
        let answer = try proxy.fetch("/feed", over: small.0, accept: accept)
        #expect(answer.coding == coding)
        #expect(answer["Dictum-Explain"]?.hasPrefix("\(coding);reason=busy") == true)
        #expect(try answer.carriesDecoded(small.1))
        #expect(answer["Use-As-Dictionary"] == nil, "it was not hashed, so it is no version")
        #expect(try proxy.metric("dictum_compression_busy_total") == 1)
        for gate in gates { gate.open() }
    }

    @Test func `what the quick coding would make no shorter goes out plain`() throws {
        let noise = Noise.bytes(small.1.count, seed: 5)
        let (proxy, gates) = try full((small.0, noise))
        let answer = try proxy.fetch("/feed", over: small.0, accept: "dcz, zstd")
        #expect(answer["Dictum-Explain"]?.hasPrefix("identity;reason=busy") == true)
        #expect(answer.coding == "identity" && answer.carries(noise))
        for gate in gates { gate.open() }
    }

    @Test func `a body that would keep the loop goes out plain`() throws {
        let (proxy, gates) = try full(large)
        let answer = try proxy.fetch("/feed", over: large.0, accept: "dcz, zstd, gzip")
        #expect(answer.coding == "identity")
        #expect(answer.carries(large.1))
        for gate in gates { gate.open() }
        #expect(try proxy.fetch("/feed", over: large.0).coding == "dcz")
    }

    @Test(arguments: [large, huge])
    func `a delta that is there goes out though all places are taken`(old: [UInt8], new: [UInt8]) throws {
        let proxy = try TestProxy(Origin([json(old), json(new)]))
        // Clients that hold a dictionary are offered a body once others get it too.
        _ = try proxy.fetch("/feed")
        for _ in 0..<2 { _ = try proxy.fetch("/feed", over: old) }
        let gates = try proxy.blockPool(bytes: allPlaces)
        let answer = try proxy.fetch("/feed", over: old)
        #expect(answer.coding == "dcz")
        #expect(try answer.carriesDecoded(new, over: old))
        #expect(answer["Use-As-Dictionary"] != nil)
        for gate in gates { gate.open() }
    }

    /// RFC 9111 section 5.2.2.6, and section 5.2.1.5 for requests.
    @Test(arguments: [
        ("no-transform", "max-age=0", 200), ("public", "no-transform", 200), ("public", "max-age=0", 304),
    ])
    func `what is sent as it came, or not at all, is so with all places taken, too`(
        received: String, sent: String, status: Int
    ) throws {
        let proxy = try TestProxy(json(small.0, "Cache-Control: \(received)", #"ETag: "v1""#))
        let gates = try proxy.blockPool(bytes: allPlaces)
        let tag = status == 304 ? #""v1""# : #""v0""#
        let answer = try proxy.fetch(
            "/feed", "Accept-Encoding: zstd, gzip", "Cache-Control: \(sent)", "If-None-Match: \(tag)")
        #expect(answer.status == status)
        #expect(answer.coding == "identity")
        #expect(answer["ETag"] == #""v1""#)
        #expect(answer.carries(status == 200 ? small.0 : []))
        for gate in gates { gate.open() }
    }

    @Test func `the newest version once more needs no place, and keeps its offer and its tag`() throws {
        let proxy = try TestProxy(json(large.0))
        let before = try proxy.fetch("/feed")
        let gates = try proxy.blockPool(bytes: allPlaces)
        let answer = try proxy.fetch("/feed")
        #expect(answer.carries(large.0))
        #expect(answer["ETag"] == before["ETag"])
        #expect(answer["Use-As-Dictionary"] == #"match="/feed""#)
        for gate in gates { gate.open() }
    }

    @Test(arguments: [("dcz, gzip", "gzip"), ("dcz, gzip;q=0", "identity"), ("dcz, zstd", "identity")])
    func `the upstream's own coding goes out if the client accepts it`(accept: String, coding: String) throws
    {
        let coded = try Codec.encode(large.1.span, .gzip)
        let (proxy, gates) = try full(large, json(coded, "Content-Encoding: gzip", #"ETag: "2""#))
        let answer = try proxy.fetch("/feed", over: large.0, accept: accept)
        #expect(answer.coding == coding)
        #expect(answer["Dictum-Explain"]?.hasPrefix("\(coding);reason=busy") == true)
        #expect(coding == "gzip" ? answer.carries(coded) : answer.carries(large.1))
        #expect(answer["ETag"] == (coding == "gzip" ? #""2""# : #"W/"2""#))
        #expect(answer["Content-Length"] == "\(answer.body.count)")
        for gate in gates { gate.open() }
    }

    @Test func `the upstream's own coding goes out where a delta would be no shorter than the body`() throws {
        let noise = Noise.bytes(100_000, seed: 4)
        let coded = try Codec.encode(noise.span, .gzip)
        let proxy = try TestProxy(
            Origin([json(small.0), json(coded, "Content-Encoding: gzip")]), "explain: true")
        _ = try proxy.fetch("/feed")
        let answer = try proxy.fetch("/feed", over: small.0, accept: "dcz, gzip")
        #expect(answer["Dictum-Explain"]?.hasPrefix("gzip;reason=not-shorter") == true)
        #expect(answer.carries(coded))
        #expect(
            try proxy.fetch("/feed", over: noise).carriesDecoded(noise, over: noise), "it became a version")
    }
}

/// The coding that a loop applies by itself when all places are taken.
struct BusyCodingTests {
    @Test(
        arguments: [
            ("zstd, gzip", 64 << 10, .zstd), ("zstd, gzip", (64 << 10) + 1, .identity),
            ("gzip", 16 << 10, .gzip), ("gzip", (16 << 10) + 1, .identity), ("zstd, gzip", 100, .zstd),
            ("zstd;q=0.5, gzip", 100, .gzip), ("zstd;q=0.5, identity", 100, .identity),
            ("br", 100, .identity), ("zstd;q=0.5, identity;q=0.5", 100, .zstd),
        ] as [(String, Int, ContentCoding)])
    func `the best that is quick enough for a body of that length`(
        accept: String, bytes: Int, coding: ContentCoding
    ) {
        let all = ContentCoding.allCases
        #expect(BusyCoding.quick(accept: AcceptEncoding([accept]), codings: all, bodyBytes: bytes) == coding)
    }

    @Test func `what the operator has switched off is not used either`() {
        let accept = AcceptEncoding(["zstd, gzip"])
        #expect(BusyCoding.quick(accept: accept, codings: [.gzip], bodyBytes: 100) == .gzip)
        #expect(BusyCoding.quick(accept: accept, codings: [], bodyBytes: 100) == .identity)
    }
}
