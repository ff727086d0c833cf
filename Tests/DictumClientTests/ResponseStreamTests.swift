import Dictionaries
import DictumClient
import Foundation
import FoundationNetworking
import Primitives
import Testing

/// Bodies that the app draws piece by piece.
@Suite(.timeLimit(.minutes(40))) struct ResponseStreamTests {
    private let folder = ClientFolder()

    @Test func `a stream delivers the pieces of a delta, and keeps the whole`() async throws {
        let client = try folder.client()
        let large = Data((0..<200).flatMap { _ in feed(3) })
        let server = ScriptedTransport([
            try response(large), try response(large + feed(4), coding: .dcz, over: large),
            try response(feed(5)),
        ])
        _ = try await client.data(from: feedURL, using: server)
        let (pieces, head) = try await client.stream(for: URLRequest(url: feedURL), using: server)
        #expect(head.statusCode == 200)
        var (body, count) = (Data(), 0)
        for try await piece in pieces {
            body += piece
            count += 1
        }
        #expect(body == large + feed(4) && count > 1)
        _ = try await client.data(from: feedURL, using: server)
        #expect(server.named.last == name(of: large + feed(4)))
    }

    @Test func `a stream that breaks after its first piece throws, and costs its dictionary`() async throws {
        let client = try folder.client()
        let large = Data((0..<200).flatMap { _ in feed(3) })
        var wrong = try response(large + feed(4), coding: .dcz, over: large)
        var bytes = try await #require(wrong.nextPiece())
        // The checksum of the frame.
        bytes[bytes.endIndex - 1] ^= 1
        wrong = TransportResponse(status: 200, fields: wrong.fields, body: bytes)
        let server = ScriptedTransport([try response(large), wrong, try response(feed(5))])
        _ = try await client.data(from: feedURL, using: server)
        let (pieces, _) = try await client.stream(for: URLRequest(url: feedURL), using: server)
        var count = 0
        await #expect(throws: DictionaryClientError.self) { for try await _ in pieces { count += 1 } }
        #expect(count > 0 && folder.droppedCount == 1)
        _ = try await client.data(from: feedURL, using: server)
        #expect(server.named == [nil, name(of: large), nil])
    }

    @Test(arguments: [nil, ContentCoding.gzip])
    func `the head of an ordinary response does not wait for its body`(coding: ContentCoding?) async throws {
        let (pieces, giver) = AsyncStream<Data>.makeStream()
        let rest = Rest(pieces)
        let whole = try response(feed(0), coding: coding)
        let server = ScriptedTransport { _ in
            TransportResponse(status: 200, fields: whole.fields) { await rest.next() }
        }
        let (body, head) = try await folder.client().stream(for: URLRequest(url: feedURL), using: server)
        #expect(head.statusCode == 200)
        giver.yield(try await #require(whole.nextPiece()))
        giver.finish()
        var (received, iterator) = (Data(), body.makeAsyncIterator())
        while let piece = try await iterator.next() { received += piece }
        let isStillAtEnd = try await iterator.next() == nil
        #expect(received == feed(0) && isStillAtEnd && folder.metrics.count == 1)
    }

    @Test func `a body that has failed never ends as if it were whole`() async throws {
        let whole = try response(feed(0))
        let turns = Guarded(0)
        // Like transports that end a body in silence after its error.
        let server = ScriptedTransport { _ in
            TransportResponse(status: 200, fields: whole.fields) {
                let turn = turns.withLock { turns in
                    turns += 1
                    return turns
                }
                if turn == 2 { throw URLError(.networkConnectionLost) }
                return turn == 1 ? feed(0).prefix(100) : nil
            }
        }
        let request = URLRequest(url: feedURL)
        var pieces = try await folder.client().stream(for: request, using: server).0.makeAsyncIterator()
        _ = try await pieces.next()
        var errors: [URLError.Code] = []
        for _ in 0..<3 {
            do { _ = try await pieces.next() } catch let error as URLError { errors.append(error.code) }
        }
        #expect(errors == [.networkConnectionLost, .networkConnectionLost, .networkConnectionLost])
        #expect(folder.files(endingIn: ".dictum.body").isEmpty && folder.metrics.isEmpty)
    }

    @Test(arguments: [true, false])
    func `a body that ends because the task was cancelled is not whole, and is not kept`(isStream: Bool)
        async throws
    {
        let (starts, started) = AsyncStream<Void>.makeStream()
        let whole = try response(feed(0))
        let turns = Guarded(0)
        // Like transports that end a body in silence when the task is cancelled.
        let server = ScriptedTransport { _ in
            TransportResponse(status: 200, fields: whole.fields) {
                let turn = turns.withLock { turns in
                    turns += 1
                    return turns
                }
                guard turn > 1 else { return feed(0).prefix(100) }
                started.yield()
                // Cancellation ends the sleep.
                try? await Task.sleep(nanoseconds: 60_000_000_000)
                return nil
            }
        }
        let client = try folder.client()
        let task = Task {
            guard isStream else { return try await client.data(from: feedURL, using: server).0 }
            var body = Data()
            let pieces = try await client.stream(for: URLRequest(url: feedURL), using: server).0
            for try await piece in pieces { body += piece }
            return body
        }
        for await _ in starts { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(folder.files(endingIn: ".dictum.body").isEmpty && folder.metrics.isEmpty)
    }
}

/// The rest of a stream, for one reader.
private actor Rest {
    private var iterator: AsyncStream<Data>.AsyncIterator

    init(_ stream: AsyncStream<Data>) { iterator = stream.makeAsyncIterator() }

    func next() async -> Data? {
        var current = iterator
        defer { iterator = current }
        return await current.next(isolation: self)
    }
}
