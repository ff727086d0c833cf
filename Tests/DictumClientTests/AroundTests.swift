import Dictionaries
import DictumClient
import Foundation
import FoundationNetworking
import Primitives
import Testing

/// Validators, codings, cancellation: what an app expects of HTTP around its bodies.
@Suite struct AroundTests {
    private let folder = ClientFolder()
    private let life = ("Cache-Control", "max-age=600")

    @Test func `a 304 to the client's own condition gives the app the held body with its fields`()
        async throws
    {
        let client = try folder.client()
        let server = ScriptedTransport([
            try response(
                feed(0),
                [("Cache-Control", "max-age=1"), ("Age", "0"), ("ETag", "\"a\""), ("Content-Type", "text/x")]),
            TransportResponse(status: 304, fields: [("ETag", "\"a\""), life], body: Data()),
        ])
        var lengths: [String?] = []
        for _ in 0..<2 {
            let (body, fields) = try await client.data(from: feedURL, using: server)
            #expect(body == feed(0) && fields.statusCode == 200)
            lengths.append(fields.value(forHTTPHeaderField: "Content-Length"))
            #expect(fields.value(forHTTPHeaderField: "ETag") == "\"a\"")
            #expect(fields.value(forHTTPHeaderField: "Content-Type") == "text/x")
        }
        #expect(server.requests.map { $0.value(forHTTPHeaderField: "If-None-Match") } == [nil, "\"a\""])
        #expect(folder.metrics.map(\.isRevalidated) == [false, true] && folder.metrics[1].wireBytes == 0)
        #expect(lengths == [nil, "\(feed(0).count)"] && folder.metrics.map(\.status) == [200, 304])
        #expect(folder.metrics[1].bodyBytes == feed(0).count)
    }

    @Test(arguments: [
        ("Set-Cookie", "sid=secret"), ("Connection", "x-secret"), ("Transfer-Encoding", "secret"),
    ])
    func `what belongs to one response and its connection is not kept, and does not come again with a 304`(
        field: String, value: String
    ) async throws {
        let client = try folder.client()
        let server = ScriptedTransport([
            try response(feed(0), [life, ("ETag", "\"a\""), (field, value)]),
            TransportResponse(status: 304, fields: [("ETag", "\"a\""), life], body: Data()),
        ])
        var shown: [String?] = []
        for _ in 0..<2 {
            let (body, fields) = try await client.data(from: feedURL, using: server)
            #expect(body == feed(0) && fields.statusCode == 200)
            shown.append(fields.value(forHTTPHeaderField: field))
        }
        #expect(shown == [value, nil])
        let records = try folder.files(endingIn: ".dictum.json").map {
            try String(contentsOf: $0, encoding: .utf8)
        }
        #expect(records.count == 1 && !records.joined().contains("secret"))
    }

    /// RFC 9110 section 5.3.
    @Test func `lines of one name reach the app as a list`() async throws {
        let fields = [life, ("X-List", "a"), ("X-List", "b")]
        let server = ScriptedTransport([try response(feed(0), fields)])
        let (_, head) = try await folder.client().data(from: feedURL, using: server)
        #expect(head.value(forHTTPHeaderField: "X-List") == "a, b")
    }

    @Test func `a 304 revives a stale dictionary`() async throws {
        let client = try folder.client()
        let server = ScriptedTransport([
            try response(feed(0), [("Cache-Control", "max-age=1"), ("ETag", "\"a\"")]),
            TransportResponse(status: 304, fields: [("ETag", "\"a\""), life], body: Data()),
            try response(feed(1), coding: .dcz, over: feed(0)),
        ])
        _ = try await client.data(from: feedURL, using: server)
        try await Task.sleep(nanoseconds: 2_000_000_000)
        for version in 0..<2 {
            #expect(try await client.data(from: feedURL, using: server).0 == feed(version))
        }
        #expect(server.named == [nil, nil, name(of: feed(0))])
    }

    @Test func `a 304 that repeats no offer gives a dictionary its ttl again`() async throws {
        let client = try folder.client()
        let fields = [("Cache-Control", "no-cache"), ("ETag", "\"a\"")]
        let server = ScriptedTransport([
            try response(feed(0), fields + [("Use-As-Dictionary", "match=\"/feed\", ttl=60")], match: nil),
            TransportResponse(status: 304, fields: fields, body: Data()),
            try response(feed(1), coding: .dcz, over: feed(0)),
        ])
        for version in [0, 0, 1] {
            #expect(try await client.data(from: feedURL, using: server).0 == feed(version))
        }
        #expect(server.named == [nil, name(of: feed(0)), name(of: feed(0))])
        #expect(folder.metrics.map(\.isKept) == [true, true, true])
    }

    @Test func `a 304 with the tag of another body confirms nothing, and the request is sent again`()
        async throws
    {
        let client = try folder.client()
        let other = TransportResponse(status: 304, fields: [("ETag", "\"b\""), life], body: Data())
        let server = ScriptedTransport([
            try response(feed(0), [life, ("ETag", "\"a\"")]), other,
            try response(feed(1), [life, ("ETag", "\"b\"")]),
            other,
        ])
        for version in [0, 1, 1] {
            #expect(try await client.data(from: feedURL, using: server).0 == feed(version))
        }
        let asked = server.requests.map { $0.value(forHTTPHeaderField: "If-None-Match") }
        #expect(asked == [nil, "\"a\"", nil, "\"b\""])
        #expect(folder.droppedCount == 1 && folder.metrics.map(\.isRetried) == [false, true, false])
    }

    @Test func `a response that came stale is asked about, and named once a 304 has made it fresh`()
        async throws
    {
        let client = try folder.client()
        let old = [("Cache-Control", "max-age=3"), ("Age", "3"), ("ETag", "\"a\"")]
        let server = ScriptedTransport([
            try response(feed(0), old),
            TransportResponse(status: 304, fields: old, body: Data()),
            TransportResponse(status: 304, fields: [("ETag", "\"a\""), life], body: Data()),
            try response(feed(1), coding: .dcz, over: feed(0)),
            try response(feed(2), old.dropLast() + [("ETag", "\"b\"")]), try response(feed(3)),
        ])
        for version in [0, 0, 0, 1, 2, 3] {
            #expect(try await client.data(from: feedURL, using: server).0 == feed(version))
        }
        let asked = server.requests.map { $0.value(forHTTPHeaderField: "If-None-Match") }
        #expect(asked == [nil, "\"a\"", "\"a\"", "\"a\"", nil, nil])
        // The last stale one does not take the place of one that may be named.
        #expect(server.named == [nil, nil, nil, name(of: feed(0)), name(of: feed(1)), name(of: feed(1))])
        #expect(folder.metrics.map(\.isKept) == [false, false, true, true, false, true])
        #expect(folder.unkeptCauses == ["stale", "stale", "stale"])
    }

    @Test func `a 304 to the app's own condition reaches the app`() async throws {
        let client = try folder.client()
        let server = ScriptedTransport([
            try response(feed(0), [life, ("ETag", "\"a\"")]),
            TransportResponse(status: 304, fields: [("ETag", "\"a\""), life], body: Data()),
        ])
        _ = try await client.data(from: feedURL, using: server)
        var request = URLRequest(url: feedURL)
        request.setValue("\"a\"", forHTTPHeaderField: "If-None-Match")
        let (body, head) = try await client.data(for: request, using: server)
        #expect(body.isEmpty && head.statusCode == 304)
        #expect(folder.metrics.map(\.isKept) == [true, true], "what the app holds is renewed as well")
    }

    @Test func `a 304 that forbids to store ends the dictionary`() async throws {
        let client = try folder.client()
        let tag = ("ETag", "\"a\"")
        let server = ScriptedTransport([
            try response(feed(0), [life, tag]),
            TransportResponse(status: 304, fields: [tag, ("Cache-Control", "no-store")], body: Data()),
            try response(feed(1), match: nil),
        ])
        for version in [0, 0, 1] {
            #expect(try await client.data(from: feedURL, using: server).0 == feed(version))
        }
        #expect(server.named == [nil, name(of: feed(0)), nil])
        #expect(folder.unkeptCauses == ["no-store"] && folder.files(endingIn: ".dictum.body").isEmpty)
    }

    @Test(
        arguments: [
            ("Accept", "Accept"), ("Accept", "X-Other, accept"), ("Authorization", "X-Other"),
            ("X-API-Key", "X-Other"),
        ],
        ["a", nil, "b"])
    func `the client asks about the held body only with the values that it was chosen by`(
        names: (field: String, vary: String), value: String?
    ) async throws {
        let client = try folder.client()
        let server = ScriptedTransport([
            try response(feed(0), [life, ("ETag", "\"1\""), ("Vary", names.vary)]), try response(feed(1)),
        ])
        for value in ["a", value] {
            var request = URLRequest(url: feedURL)
            request.setValue(value, forHTTPHeaderField: names.field)
            _ = try await client.data(for: request, using: server)
        }
        let asked = server.requests.map { $0.value(forHTTPHeaderField: "If-None-Match") }
        #expect(asked == [nil, value == "a" ? "\"1\"" : nil])
        let isStored = folder.files(endingIn: ".dictum").contains { file in
            (try? String(contentsOf: file, encoding: .utf8))?.contains("Authorization") == true
        }
        #expect(!isStored)
    }

    @Test(arguments: ["Cookie", "Authorization"], ["ann", "bob", nil])
    func `the client asks about the held body only with what the transport added when it came`(
        field: String, user: String?
    ) async throws {
        let client = try folder.client()
        let server = ScriptedTransport { [life] _ in try response(feed(0), [life, ("ETag", "\"17\"")]) }
        for user in ["ann", user] {
            server.added.withLock { $0[field] = user }
            _ = try await client.data(from: feedURL, using: server)
        }
        let asked = server.requests.map { $0.value(forHTTPHeaderField: "If-None-Match") }
        #expect(asked == [nil, user == "ann" ? "\"17\"" : nil])
    }

    @Test func `of a field that both the app and the transport set, the app's value counts`() async throws {
        let client = try folder.client()
        let server = ScriptedTransport { [life] _ in try response(feed(0), [life, ("ETag", "\"17\"")]) }
        server.added.withLock { $0["Authorization"] = "all" }
        for user in ["ann", "bob"] {
            var request = URLRequest(url: feedURL)
            request.setValue(user, forHTTPHeaderField: "Authorization")
            _ = try await client.data(for: request, using: server)
        }
        #expect(server.requests[1].value(forHTTPHeaderField: "If-None-Match") == nil)
    }

    @Test(arguments: ["If-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range"])
    func `a condition of the app's is the only one`(field: String) async throws {
        let client = try folder.client()
        let server = ScriptedTransport { [life] _ in try response(feed(0), [life, ("ETag", "\"a\"")]) }
        _ = try await client.data(from: feedURL, using: server)
        var request = URLRequest(url: feedURL)
        request.setValue("\"b\"", forHTTPHeaderField: field)
        _ = try await client.data(for: request, using: server)
        #expect(server.requests[1].value(forHTTPHeaderField: "If-None-Match") == nil)
    }

    @Test func `a 304 to a date of the app's says nothing of a body without an entity tag`() async throws {
        let client = try folder.client()
        let server = ScriptedTransport([
            try response(feed(0)),
            TransportResponse(status: 304, fields: [("ETag", "\"other\"")], body: Data()),
            try response(feed(1)),
        ])
        _ = try await client.data(from: feedURL, using: server)
        var request = URLRequest(url: feedURL)
        request.setValue("Thu, 01 Jan 2026 00:00:00 GMT", forHTTPHeaderField: "If-Modified-Since")
        #expect(try await client.data(for: request, using: server).0.isEmpty)
        _ = try await client.data(from: feedURL, using: server)
        #expect(server.requests[2].value(forHTTPHeaderField: "If-None-Match") == nil)
    }

    @Test(
        arguments: [
            ("HEAD", 200, nil), ("GET", 204, nil), ("GET", 304, nil), ("GET", 206, "bytes=0-9"),
            ("GET", 200, nil),
        ] as [(String, Int, String?)])
    func `a response that has no whole body in its coding passes as it came`(
        method: String, status: Int, range: String?
    ) async throws {
        let part = Data(status == 206 ? [1, 2, 3] : [])
        let server = ScriptedTransport { _ in
            TransportResponse(
                status: status, fields: [("Content-Encoding", "gzip"), ("Content-Length", "9")], body: part)
        }
        var request = URLRequest(url: feedURL)
        request.httpMethod = method
        request.setValue(range, forHTTPHeaderField: "Range")
        if status == 304 { request.setValue("\"a\"", forHTTPHeaderField: "If-None-Match") }
        let (body, fields) = try await folder.client().data(for: request, using: server)
        #expect(body == part && fields.statusCode == status)
        let isDecoded = method == "GET" && status == 200
        #expect(fields.value(forHTTPHeaderField: "Content-Encoding") == (isDecoded ? nil : "gzip"))
        #expect(fields.value(forHTTPHeaderField: "Content-Length") == (isDecoded ? "0" : "9"))
        let asked = server.requests[0].value(forHTTPHeaderField: "Accept-Encoding")
        #expect((asked == nil) == (method == "HEAD" || range != nil))
    }

    @Test(arguments: [("GET", 200, true), ("HEAD", 200, false), ("GET", 206, false), ("GET", 304, false)])
    func `a body that the transport has decoded has no coding, and its own length`(
        method: String, status: Int, isWhole: Bool
    ) async throws {
        let sent = Data((isWhole ? "decoded" : "").utf8)
        let server = ScriptedTransport(decodedCodings: ["gzip", "deflate"]) { _ in
            TransportResponse(
                status: status, fields: [("Content-Encoding", "deflate, gzip"), ("Content-Length", "99")],
                body: sent)
        }
        var request = URLRequest(url: feedURL)
        request.httpMethod = method
        let client = try folder.client()
        let (body, fields) = try await client.data(for: request, using: server)
        #expect(body == sent)
        #expect(fields.value(forHTTPHeaderField: "Content-Encoding") == (isWhole ? nil : "deflate, gzip"))
        #expect(fields.value(forHTTPHeaderField: "Content-Length") == (isWhole ? "7" : "99"))
        let (_, stream) = try await client.stream(for: request, using: server)
        #expect(stream.value(forHTTPHeaderField: "Content-Length") == (isWhole ? nil : "99"))
    }

    @Test func `a transport that has undone zstd may leave its name in the head`() async throws {
        let server = ScriptedTransport(decodedCodings: ["gzip"]) { request in
            let asked = request.value(forHTTPHeaderField: "Accept-Encoding") ?? ""
            return try asked.hasPrefix("identity")
                ? response(feed(0), coding: .zstd) : response(feed(0), [("Content-Encoding", "zstd")])
        }
        for asked in ["zstd", "identity;q=0.5, zstd"] {
            var request = URLRequest(url: feedURL)
            request.setValue(asked, forHTTPHeaderField: "Accept-Encoding")
            #expect(try await folder.client().data(for: request, using: server).0 == feed(0))
        }
    }

    @Test(arguments: [1, 3, 1_000_000])
    func
        `zstd is told by its first four bytes in whatever pieces it comes, if the transport may have undone it`(
            pieceBytes: Int
        ) async throws
    {
        let whole = try response(feed(0), coding: .zstd)
        let coded = try await #require(whole.nextPiece())
        // RFC 8878 section 3.1.2.
        let skippable = Data([0x5a, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 7, 7])
        var request = URLRequest(url: feedURL)
        request.setValue("zstd", forHTTPHeaderField: "Accept-Encoding")
        for (sent, expected) in [
            (coded, feed(0)), (skippable + coded, feed(0)), (feed(0), feed(0)),
            (Data("{}".utf8), Data("{}".utf8)),
            (Data(), Data()),
        ] {
            let server = ScriptedTransport(decodedCodings: ["gzip"]) { _ in
                let left = Guarded(sent)
                return TransportResponse(status: 200, fields: [("Content-Encoding", "zstd")]) {
                    left.withLock { left in
                        let piece = Data(left.prefix(pieceBytes))
                        left.removeFirst(piece.count)
                        return piece.isEmpty ? nil : piece
                    }
                }
            }
            #expect(try await folder.client().data(for: request, using: server).0 == expected)
        }
        let server = ScriptedTransport { _ in try response(feed(0), [("Content-Encoding", "zstd")]) }
        let client = try folder.client()
        await #expect(throws: DictionaryClientError.self) {
            try await client.data(for: request, using: server)
        }
    }

    @Test func `a body that is a stream is refused with words, before anything is sent`() async throws {
        let server = ScriptedTransport([try response(feed(0))])
        var request = URLRequest(url: feedURL)
        request.httpMethod = "PUT"
        request.httpBodyStream = InputStream(data: feed(0))
        let client = try folder.client()
        await #expect(throws: DictionaryClientError.bodyStream) {
            try await client.data(for: request, using: server)
        }
        #expect(server.requests.isEmpty)
    }

    @Test func `cancelling the task cancels the transport`() async throws {
        let client = try folder.client()
        let (starts, started) = AsyncStream<Void>.makeStream()
        let (answers, answered) = AsyncStream<Void>.makeStream()
        let server = ScriptedTransport { _ in
            started.yield()
            for await _ in answers {}
            try Task.checkCancellation()
            return try response(feed(0))
        }
        let task = Task { try await client.data(from: feedURL, using: server) }
        for await _ in starts { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        answered.finish()
    }

    @Test func `a failure of the transport in the middle of a body reaches the app, and nothing is kept`()
        async throws
    {
        let client = try folder.client()
        let turns = Guarded(0)
        let whole = try response(feed(0))
        let server = ScriptedTransport { _ in
            TransportResponse(status: 200, fields: whole.fields) {
                guard
                    turns.withLock({
                        $0 += 1; return $0
                    }) == 1
                else { throw URLError(.networkConnectionLost) }
                return feed(0).prefix(100)
            }
        }
        await #expect(throws: URLError.self) { try await client.data(from: feedURL, using: server) }
        #expect(folder.files(endingIn: ".dictum.body").isEmpty && server.requests.count == 1)
    }
}
