import Dictionaries
import DictumClient
import Foundation
import FoundationNetworking
import Primitives
import Testing

@Suite struct DeltaTests {
    private let folder = ClientFolder()

    @Test(arguments: [ContentCoding.dcz, .dcb])
    func `the second request names the first body, and its delta is decoded`(coding: ContentCoding)
        async throws
    {
        let client = try folder.client()
        let server = ScriptedTransport([
            try response(feed(0)), try response(feed(1), coding: coding, over: feed(0)),
        ])
        for version in 0..<2 {
            let (body, fields) = try await client.data(from: feedURL, using: server)
            #expect(body == feed(version))
            #expect(fields.statusCode == 200 && fields.value(forHTTPHeaderField: "Content-Encoding") == nil)
        }
        #expect(server.named == [nil, name(of: feed(0))])
        let requests = server.requests
        #expect(requests[0].value(forHTTPHeaderField: "Accept-Encoding") == "zstd, br, gzip")
        #expect(requests[1].value(forHTTPHeaderField: "Accept-Encoding") == "dcz, dcb, zstd, br, gzip")
        #expect(requests[1].value(forHTTPHeaderField: "Dictionary-ID") == "\"cap-1\"")
        let metrics = folder.metrics
        #expect(metrics.map(\.isKept) == [true, true] && metrics[1].coding == coding.token)
        #expect(metrics[1].wireBytes < 400 && metrics[1].bodyBytes == feed(1).count)
        #expect(metrics.map(\.status) == [200, 200] && metrics[1].url == feedURL)
        let named = metrics.map { metrics in metrics.dictionary.flatMap { Digest(hex: $0)?.base64 } }
        #expect(named == [nil, Digest(of: [UInt8](feed(0)).span).base64] && metrics[1].requestBytes == 0)
    }

    @Test func `a dictionary outlives the process`() async throws {
        let server = ScriptedTransport([
            try response(feed(0)), try response(feed(1), coding: .dcz, over: feed(0)),
        ])
        for version in 0..<2 {
            #expect(try await folder.client().data(from: feedURL, using: server).0 == feed(version))
        }
        #expect(server.named == [nil, name(of: feed(0))])
    }

    /// The ways in which a delta may be wrong.
    enum Fault: CaseIterable {
        case magic, digest, cut, flipped, longer
    }

    @Test(arguments: Fault.allCases, [ContentCoding.dcz, .dcb])
    func `a delta that does not decode costs the dictionary and one more request`(
        fault: Fault, coding: ContentCoding
    ) async throws {
        let client = try folder.client()
        var wrong = try response(feed(1), coding: coding, over: feed(0))
        var bytes = try await #require(wrong.nextPiece())
        switch fault {
        case .magic: bytes[1] ^= 1
        case .digest: bytes[bytes.startIndex + 20] ^= 1
        case .cut: bytes = bytes.dropLast(5)
        case .flipped: for index in 41..<bytes.count { bytes[index] ^= 0x55 }
        case .longer: bytes += Data("more".utf8)
        }
        wrong = TransportResponse(status: 200, fields: wrong.fields, body: bytes)
        let server = ScriptedTransport([
            try response(feed(0)), wrong, try response(feed(1)), try response(feed(2), match: nil),
        ])
        for version in 0..<3 {
            #expect(try await client.data(from: feedURL, using: server).0 == feed(version))
        }
        // The plain response became a dictionary in its place.
        #expect(server.named == [nil, name(of: feed(0)), nil, name(of: feed(1))])
        #expect(folder.metrics.map(\.isRetried) == [false, true, false])
        #expect(folder.droppedCount == 1)
        // What could not be used came over the network, too.
        #expect(folder.metrics[1].wireBytes >= bytes.count + feed(1).count)
    }

    @Test func `a delta without a dictionary is an error, and not asked for again`() async throws {
        let client = try folder.client()
        let server = ScriptedTransport([try response(feed(1), coding: .dcz, over: feed(0))])
        await #expect(throws: DictionaryClientError.self) {
            try await client.data(from: feedURL, using: server)
        }
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [ContentCoding.gzip, .br, .zstd])
    func `a body over the limit is an error, and one at the limit is not`(coding: ContentCoding) async throws
    {
        let bomb = Data(repeating: 0x20, count: 100_000)
        let server = ScriptedTransport { _ in try response(bomb, coding: coding) }
        #expect(try await folder.client(bodyBytesMax: 100_000).data(from: feedURL, using: server).0 == bomb)
        let client = try folder.client(bodyBytesMax: 99_999)
        await #expect(throws: DictionaryClientError.tooLarge(limit: 99_999)) {
            try await client.data(from: feedURL, using: server)
        }
        #expect(server.requests.count == 2)
    }

    @Test func `a body that comes in pieces is bounded as a whole`() async throws {
        let server = ScriptedTransport { _ in
            let left = Guarded(10)
            return TransportResponse(
                status: 200, fields: [],
                nextPiece: {
                    left.withLock { left in
                        left -= 1
                        return left >= 0 ? Data(repeating: 0x20, count: 10_000) : nil
                    }
                })
        }
        let body = try await folder.client(bodyBytesMax: 100_000).data(from: feedURL, using: server).0
        #expect(body.count == 100_000)
        let client = try folder.client(bodyBytesMax: 99_999)
        await #expect(throws: DictionaryClientError.tooLarge(limit: 99_999)) {
            try await client.data(from: feedURL, using: server)
        }
    }

    @Test func `bodies that the transport has decoded are not decoded again`() async throws {
        let server = ScriptedTransport(decodedCodings: ["gzip", "br"]) { request in
            let isFirst = request.value(forHTTPHeaderField: "Available-Dictionary") == nil
            let fields = [("Cache-Control", "max-age=600")]
            guard isFirst else { return try response(feed(1), coding: .dcz, over: feed(0)) }
            return try response(feed(0), fields + [("Content-Encoding", "gzip")])
        }
        let client = try folder.client()
        for version in 0..<2 {
            #expect(try await client.data(from: feedURL, using: server).0 == feed(version))
        }
        let asked = server.requests.map { $0.value(forHTTPHeaderField: "Accept-Encoding") }
        #expect(asked == ["gzip, br", "dcz, dcb, gzip, br"])
    }

    @Test
    func `a delta that decodes to more than the limit is an error, which asking again would not mend`()
        async throws
    {
        let client = try folder.client(bodyBytesMax: 100_000)
        let bomb = Data(repeating: 0x20, count: 1 << 20)
        let server = ScriptedTransport([
            try response(feed(0)), try response(bomb, coding: .dcz, over: feed(0)), try response(feed(1)),
        ])
        _ = try await client.data(from: feedURL, using: server)
        await #expect(throws: DictionaryClientError.tooLarge(limit: 100_000)) {
            try await client.data(from: feedURL, using: server)
        }
        _ = try await client.data(from: feedURL, using: server)
        #expect(server.named == [nil, name(of: feed(0)), name(of: feed(0))] && folder.droppedCount == 0)
    }

    @Test func `a second request that is redirected is followed`() async throws {
        let client = try folder.client()
        var wrong = try response(feed(1), coding: .dcz, over: feed(0))
        let bytes = try await #require(wrong.nextPiece()).dropLast(5)
        wrong = TransportResponse(status: 200, fields: wrong.fields, body: bytes)
        let server = ScriptedTransport([
            try response(feed(0)), wrong,
            TransportResponse(status: 307, fields: [("Location", "/feed?2")], body: Data()),
            try response(feed(1)),
        ])
        for version in 0..<2 {
            #expect(try await client.data(from: feedURL, using: server).0 == feed(version))
        }
        #expect(folder.metrics.map(\.isRetried) == [false, true])
        #expect(folder.metrics.last?.wireBytes == bytes.count + feed(1).count, "of all that came")
    }

    @Test(arguments: ["compress", "gzip, compress", "deflate"], [[], ["deflate"]])
    func `a body in a coding that nobody undoes is no dictionary, and the app is told`(
        coding: String, decodedCodings: [String]
    ) async throws {
        let client = try folder.client()
        let fields = [("Cache-Control", "max-age=600"), ("ETag", "\"a\""), ("Content-Encoding", coding)]
        let server = ScriptedTransport(decodedCodings: decodedCodings) { _ in try response(feed(0), fields) }
        let isDecoded = decodedCodings == [coding]
        for _ in 0..<2 {
            let (body, head) = try await client.data(from: feedURL, using: server)
            let shown = head.value(forHTTPHeaderField: "Content-Encoding")
            #expect(body == feed(0) && shown == (isDecoded ? nil : coding))
        }
        #expect(server.named == [nil, isDecoded ? name(of: feed(0)) : nil])
        let asked = server.requests.map { $0.value(forHTTPHeaderField: "If-None-Match") }
        #expect(asked == [nil, isDecoded ? "\"a\"" : nil])
        #expect(folder.unkeptCauses == (isDecoded ? [] : ["coding", "coding"]))
    }

    @Test(arguments: [(0, true), (1, false)])
    func `an offer of a body that is too large is not kept, and the app is told`(
        more: Int, isKept: Bool
    ) async throws {
        let client = try folder.client(limit: .mebibytes(64))
        let large = Data(repeating: 0x20, count: (8 << 20) + more)
        let server = ScriptedTransport([try response(large)])
        _ = try await client.data(from: feedURL, using: server)
        #expect(folder.unkeptCauses == (isKept ? [] : ["too large"]))
        #expect(folder.files(endingIn: ".dictum.body").count == (isKept ? 1 : 0))
    }

    @Test func `by default a body may have 64 MiB and a dictionary 8 MiB`() {
        let options = DictionaryClient.Options()
        #expect(
            options.bodyBytesMax == 64 << 20 && options.dictionaryBytesMax == 8 << 20 && options.codesUploads)
    }
}
