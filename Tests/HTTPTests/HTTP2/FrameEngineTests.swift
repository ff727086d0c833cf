internal import Primitives
internal import TestSupport
internal import Testing

@testable import HTTP

/// The client's frames of one request, without a connection.
struct FrameEngineTests {
    /// Collects what the engine reports.
    private final class Collector: FrameEngineOwner {
        var lengths: [String] = []
        var statuses: [String] = []
        var body: [UInt8] = []
        var isEnded = false
        /// The error code with which the stream was closed; nil before.
        var code: UInt32?
        var isLate = false

        var isComplete: Bool { isEnded && code == 0 }

        func field(_ name: Span<UInt8>, _ value: Span<UInt8>, stream: Int32) -> Bool {
            guard stream == 1 else { return true }
            note()
            if name.equals(":status") { statuses.append(String(value)) }
            if name.equals("content-length") { lengths.append(String(value)) }
            return true
        }
        func fieldsEnded(stream: Int32, endsStream: Bool) {
            guard stream == 1 else { return }
            note()
            isEnded = endsStream
        }
        func data(_ bytes: Span<UInt8>, stream: Int32) {
            guard stream == 1 else { return }
            note()
            body.append(bytes)
        }
        func bodyEnded(stream: Int32) {
            guard stream == 1 else { return }
            note()
            isEnded = true
        }
        func peerReset(stream: Int32, error: UInt32) { if stream == 1 { note() } }
        func closed(stream: Int32, error: UInt32) {
            guard stream == 1 else { return }
            note()
            code = error
        }

        private func note() { if code != nil { isLate = true } }
    }

    /// A response of 103, 200, two pieces and trailers, and frames of the connection in between.
    private static let response: [UInt8] = {
        let kinds: [(UInt8, UInt8, Int32, [UInt8])] = [
            (HTTP2Peer.Kind.settings, 0, 0, []), (HTTP2Peer.Kind.settings, 1, 0, []),
            (HTTP2Peer.Kind.headers, 4, 1, HTTP2Peer.block([(":status", "103"), ("link", "</a>")])),
            (HTTP2Peer.Kind.headers, 4, 1, HTTP2Peer.block([(":status", "200"), ("content-length", "12")])),
            (HTTP2Peer.Kind.data, 0, 1, Array("hello ".utf8)),
            (HTTP2Peer.Kind.ping, 0, 0, Array("12345678".utf8)),
            (HTTP2Peer.Kind.data, 0, 1, Array("world\n".utf8)),
            (HTTP2Peer.Kind.headers, 5, 1, HTTP2Peer.block([("x-sum", "1")])),
        ]
        return kinds.flatMap { HTTP2Peer.frame($0.0, $0.1, stream: $0.2, payload: $0.3) }
    }()

    /// Begins a request and lets the engine read bytes in pieces.
    private func read(_ bytes: [UInt8], pieces: (Int) -> Int) throws -> Collector {
        let collector = Collector()
        let engine = try #require(FrameEngine(client: collector, fieldBytesMax: 32_768))
        var headers = Headers()
        headers.append(.host, "a.test")
        let head = RequestHead(method: .get, target: try RequestTarget("/"), headers: headers)
        #expect(engine.submitRequest(FieldBlock(head, scheme: "http")) == 1)
        var sent: [UInt8] = []
        while let count = engine.send({ sent.append($0) }), count > 0 {}
        #expect(sent.starts(with: HTTP2Peer.preface))
        var start = 0
        while start < bytes.count, engine.wantsRead || engine.wantsWrite {
            let end = min(bytes.count, start + max(1, pieces(bytes.count - start)))
            guard engine.receive(bytes.span.extracting(start..<end)) == nil else { break }
            while let count = engine.send({ sent.append($0) }), count > 0 {}
            start = end
        }
        return collector
    }

    @Test(arguments: [1, 7, 1000])
    func `a response is complete however its bytes are cut`(piece: Int) throws {
        let collector = try read(Self.response) { _ in piece }
        #expect(collector.isComplete && collector.statuses == ["103", "200"])
        #expect(String(decoding: collector.body, as: UTF8.self) == "hello world\n")
    }

    @Test func `no response that is cut short is complete`() throws {
        for count in 0..<Self.response.count {
            #expect(try !read(Array(Self.response.prefix(count))) { $0 }.isComplete, "\(count) bytes")
        }
    }

    @Test func `whatever comes, a complete response has its declared length, and nothing follows it`() throws
    {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix(seed: seed)
        var completed = 0
        for turn in 0..<4_000 {
            var bytes = Self.response
            for _ in 0...Int.random(in: 0..<3, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                let other = Int.random(in: place..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0 ... .max, using: &random)
                case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 2: bytes.insert(contentsOf: bytes[place..<other], at: place)
                default: bytes.removeSubrange(place..<min(other, bytes.count - 1))
                }
            }
            let collector = try read(bytes) { Int.random(in: 0..<$0, using: &random) + 1 }
            #expect(!collector.isLate, "seed \(seed), turn \(turn)")
            guard collector.isComplete else { continue }
            completed += 1
            #expect(collector.statuses.last?.hasPrefix("1") == false, "seed \(seed), turn \(turn)")
            for length in collector.lengths {
                #expect(length == "\(collector.body.count)", "seed \(seed), turn \(turn)")
            }
        }
        // Changes of names and pieces leave some of them whole; the test would else prove nothing.
        #expect(completed > 100 && completed < 3_900, "\(completed) complete, seed \(seed)")
    }
}
