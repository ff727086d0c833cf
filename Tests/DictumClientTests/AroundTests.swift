import Dictionaries
import DictumClient
import Foundation
import FoundationNetworking
import Primitives
import Testing

/// Validators, redirects, cancellation: what an app expects of HTTP around its bodies.
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
        for _ in 0..<2 {
            let (body, head) = try await client.data(from: feedURL, using: server)
            let fields = try #require(head as? HTTPURLResponse)
            #expect(body == feed(0) && fields.statusCode == 200)
            #expect(fields.value(forHTTPHeaderField: "ETag") == "\"a\"")
            #expect(fields.value(forHTTPHeaderField: "Content-Type") == "text/x")
        }
        #expect(server.requests.map { $0.value(forHTTPHeaderField: "If-None-Match") } == [nil, "\"a\""])
        #expect(folder.metrics.map(\.isRevalidated) == [false, true] && folder.metrics[1].wireBytes == 0)
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

    @Test func `a 304 to the app's own condition reaches the app`() async throws {
        let client = try folder.client()
        let server = ScriptedTransport([
            try response(feed(0), [life, ("ETag", "\"a\"")]),
            TransportResponse(status: 304, fields: [("ETag", "\"a\"")], body: Data()),
        ])
        _ = try await client.data(from: feedURL, using: server)
        var request = URLRequest(url: feedURL)
        request.setValue("\"a\"", forHTTPHeaderField: "If-None-Match")
        let (body, head) = try await client.data(for: request, using: server)
        #expect(body.isEmpty && (head as? HTTPURLResponse)?.statusCode == 304)
    }

    @Test func `a redirect to another origin takes along neither dictionary nor credentials`() async throws {
        let client = try folder.client()
        let server = ScriptedTransport([
            try response(feed(0)),
            TransportResponse(status: 302, fields: [("location", "https://other.test/feed")], body: Data()),
            try response(feed(1), match: nil),
        ])
        var request = URLRequest(url: feedURL)
        for (name, value) in [("Authorization", "Bearer x"), ("X-API-Key", "x"), ("Accept", "text/x")] {
            request.setValue(value, forHTTPHeaderField: name)
        }
        _ = try await client.data(for: request, using: server)
        let (body, head) = try await client.data(for: request, using: server)
        #expect(body == feed(1) && head.url?.absoluteString == "https://other.test/feed")
        #expect(server.named == [nil, name(of: feed(0)), nil])
        for name in ["Authorization", "X-API-Key", "Dictionary-ID"] {
            #expect(server.requests[2].value(forHTTPHeaderField: name) == nil)
        }
        #expect(server.requests[2].value(forHTTPHeaderField: "Accept") == "text/x")
    }

    @Test func `redirects without an end are an error`() async throws {
        let server = ScriptedTransport([
            TransportResponse(status: 302, fields: [("location", "/feed")], body: Data())
        ])
        let client = try folder.client()
        await #expect(throws: DictionaryClientError.self) {
            try await client.data(from: feedURL, using: server)
        }
        #expect(server.requests.count == 51)
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
