import Dictionaries
import DictumClient
import Foundation
import FoundationNetworking
import Primitives
import Testing

/// The dictionaries that responses name by Link (RFC 9842 section 3).
@Suite(.timeLimit(.minutes(40))) struct FollowedLinkTests {
    private let folder = ClientFolder()

    /// Serves a feed that nobody keeps and that names a dictionary, and the dictionary.
    private func server(_ link: String = "</linked>; rel=\"compression-dictionary\"") -> ScriptedTransport {
        ScriptedTransport { request in
            request.url?.path == "/linked"
                ? try response(feed(0), match: "/feed")
                : try response(feed(1), [("Cache-Control", "no-cache"), ("Link", link)], match: nil)
        }
    }

    @Test func `what a Link names is fetched without the app's fields, and named from then on`() async throws
    {
        let (client, server) = (try folder.client(), server())
        var request = URLRequest(url: feedURL)
        for (name, value) in [("Authorization", "Bearer x"), ("Cookie", "a=b"), ("X-API-Key", "y")] {
            request.setValue(value, forHTTPHeaderField: name)
        }
        _ = try await client.data(for: request, using: server)
        await client.fetchLinked()
        _ = try await client.data(for: request, using: server)
        #expect(server.requests.map { $0.url?.path } == ["/feed", "/linked", "/feed"])
        #expect(server.requests[1].allHTTPHeaderFields?.keys.sorted() == ["Accept-Encoding"])
        #expect(!server.requests[1].httpShouldHandleCookies)
        #expect(server.named == [nil, nil, name(of: feed(0))])
        #expect(folder.metrics.map(\.isOfLink) == [false, true, false])
        await client.fetchLinked()
        #expect(server.requests.count == 3, "it is held already")
    }

    @Test
    func `what the server names is not replaced by an older dictionary that the app has again at its start`()
        async throws
    {
        let (client, server) = (try folder.client(), server())
        let file = folder.url.appendingPathExtension("json")
        defer { try? FileManager.default.removeItem(at: file) }
        try feed(5).write(to: file)
        try await client.preload(file, match: "/feed", from: feedURL)
        _ = try await client.data(from: feedURL, using: server)
        await client.fetchLinked()
        try await client.preload(file, match: "/feed", from: feedURL)
        _ = try await client.data(from: feedURL, using: server)
        #expect(server.named == [name(of: feed(5)), nil, name(of: feed(0))])
    }

    @Test func `an app that is idle need not ask for it`() async throws {
        let (events, continuation) = AsyncStream.makeStream(of: DictionaryEvent.self)
        var options = DictionaryClient.Options()
        options.onEvent = { continuation.yield($0) }
        let store = try ClientStore.persistent(at: folder.url, limit: .mebibytes(8))
        let client = DictionaryClient(store: store, options: options)
        let server = server()
        _ = try await client.data(from: feedURL, using: server)
        for await event in events {
            if case .finished(let figures) = event, figures.isOfLink { break }
        }
        _ = try await client.data(from: feedURL, using: server)
        #expect(server.named == [nil, nil, name(of: feed(0))])
    }

    @Test func `what is named after all that waited was fetched is fetched as well`() async throws {
        let linked = LinkedFetches()
        // A round may still be at its end when the next URL comes, and then takes it along.
        for number in 0..<20 {
            let (fetched, continuation) = AsyncStream.makeStream(of: Bool.self)
            let url = try #require(URL(string: "https://api.test/\(number)"))
            await linked.add(url) { _ in
                continuation.yield(true)
                return true
            }
            let patience = Task {
                try await Task.sleep(nanoseconds: 60_000_000_000)
                continuation.yield(false)
            }
            let isFetched = await fetched.first { _ in true }
            patience.cancel()
            try #require(isFetched == true)
        }
    }

    @Test func `a request with a name follows no Link, since it names no dictionary of another name`()
        async throws
    {
        let (client, server) = (try folder.client(), server())
        _ = try await client.data(for: URLRequest(url: feedURL), operation: "Feed", using: server)
        await client.fetchLinked()
        #expect(server.requests.map { $0.url?.path } == ["/feed"])
    }

    @Test func `to fetch all is also to wait for the one that is on its way`() async throws {
        let linked = LinkedFetches()
        let (starts, started) = AsyncStream<Void>.makeStream()
        let (ends, end) = AsyncStream<Void>.makeStream()
        let isFetched = Guarded(false)
        let url = try #require(URL(string: "https://api.test/linked"))
        await linked.add(url) { _ in
            started.yield()
            for await _ in ends { break }
            isFetched.withLock { $0 = true }
            return true
        }
        for await _ in starts { break }
        let all = Task {
            await linked.fetchAll()
            return isFetched.withLock { $0 }
        }
        // Time to return too early.
        try await Task.sleep(nanoseconds: 200_000_000)
        end.yield()
        #expect(await all.value)
    }

    @Test(arguments: [
        "<https://other.test/linked>; rel=\"compression-dictionary\"",
        "<http://api.test/linked>; rel=\"compression-dictionary\"",
        "</feed>; rel=\"compression-dictionary\"", "</linked>; rel=preload",
        "<mailto:a@api.test>; rel=\"compression-dictionary\"",
    ])
    func `a Link to another origin, to the response itself or of another relation is not followed`(
        link: String
    ) async throws {
        let (client, server) = (try folder.client(), server(link))
        _ = try await client.data(from: feedURL, using: server)
        await client.fetchLinked()
        #expect(server.requests.count == 1)
    }

    @Test(arguments: ["/linked/2", "https://other.test/linked/2"])
    func `a redirect of a linked dictionary is followed within its origin`(location: String) async throws {
        let client = try folder.client()
        let server = ScriptedTransport { request in
            switch request.url?.path {
            case "/linked": TransportResponse(status: 302, fields: [("Location", location)], body: Data())
            case "/linked/2": try response(feed(0), match: nil)
            default:
                try response(
                    feed(1), [("Link", "</linked>; rel=\"compression-dictionary\"")], match: nil)
            }
        }
        _ = try await client.data(from: feedURL, using: server)
        await client.fetchLinked()
        let isFollowed = server.requests.last?.url?.path == "/linked/2"
        #expect(isFollowed == location.hasPrefix("/"))
    }

    @Test func `what the app forbids, and what is named after a log-out, is not fetched`() async throws {
        var options = DictionaryClient.Options()
        options.mayFetchLinked = { $0.path != "/linked" }
        let store = try ClientStore.persistent(at: folder.url, limit: .mebibytes(8))
        let server = server()
        let careful = DictionaryClient(store: store, options: options).forUser("careful")
        _ = try await careful.data(from: feedURL, using: server)
        await careful.fetchLinked()
        let leaving = try folder.client().forUser("leaving")
        _ = try await leaving.data(from: feedURL, using: server)
        await leaving.removeAll()
        await leaving.fetchLinked()
        #expect(server.requests.map { $0.url?.path } == ["/feed", "/feed"])
    }

    @Test func `a linked dictionary that is gone costs the app nothing`() async throws {
        let client = try folder.client()
        let server = ScriptedTransport { request in
            guard request.url?.path == "/feed" else { throw URLError(.cannotConnectToHost) }
            return try response(
                feed(1), [("Link", "</linked>; rel=\"compression-dictionary\"")], match: nil)
        }
        let (body, _) = try await client.data(from: feedURL, using: server)
        await client.fetchLinked()
        #expect(body == feed(1))
        let events = folder.events.withLock { $0 }
        #expect(
            events.contains { if case .notKept(let url, _) = $0 { url.path == "/linked" } else { false } })
    }

    @Test func `a linked dictionary that is too large to be kept is not fetched to its end`() async throws {
        let drawn = Guarded(0)
        let server = ScriptedTransport { request in
            guard request.url?.path == "/linked" else {
                return try response(
                    feed(1), [("Link", "</linked>; rel=\"compression-dictionary\"")], match: nil)
            }
            return TransportResponse(status: 200, fields: try response(feed(0)).fields) {
                let count = drawn.withLock { drawn in
                    drawn += 1
                    return drawn
                }
                return count <= 15 ? Data(repeating: 0x20, count: 1 << 20) : nil
            }
        }
        let client = try folder.client()
        _ = try await client.data(from: feedURL, using: server)
        await client.fetchLinked()
        #expect(drawn.withLock { $0 } == 9 && folder.unkeptCauses.count == 1)
    }

    @Test func `a linked dictionary that cannot be had is asked for once, though every response names it`()
        async throws
    {
        let client = try folder.client()
        let server = ScriptedTransport { request in
            guard request.url?.path == "/feed" else {
                return TransportResponse(status: 404, fields: [], body: Data())
            }
            return try response(
                feed(1), [("Link", "</linked>; rel=\"compression-dictionary\"")], match: nil)
        }
        for _ in 0..<3 {
            _ = try await client.data(from: feedURL, using: server)
            await client.fetchLinked()
        }
        #expect(server.requests.map { $0.url?.path } == ["/feed", "/linked", "/feed", "/feed"])
    }

    @Test func `a failure is remembered for an hour, and of so many only the latest`() async throws {
        let (now, asked) = (Guarded(Date()), Guarded<[Int]>([]))
        let linked = LinkedFetches(now: { now.withLock { $0 } })
        func ask(_ number: Int) async throws {
            let url = try #require(URL(string: "https://api.test/\(number)"))
            await linked.add(url) { _ in
                asked.withLock { $0.append(number) }
                return false
            }
            await linked.fetchAll()
        }
        try await ask(0)
        now.withLock { $0 += 3_599 }
        try await ask(0)
        #expect(asked.withLock { $0 } == [0])
        now.withLock { $0 += 1 }
        try await ask(0)
        #expect(asked.withLock { $0 } == [0, 0])
        for number in 1...64 { try await ask(number) }
        for number in [0, 64] { try await ask(number) }
        #expect(asked.withLock { $0 }.suffix(2) == [64, 0])
    }

    @Test func `a failure of the future is none, since the clock was set back`() async throws {
        let (now, asked) = (Guarded(Date()), Guarded(0))
        let linked = LinkedFetches(now: { now.withLock { $0 } })
        let url = try #require(URL(string: "https://api.test/linked"))
        for _ in 0..<2 {
            await linked.add(url) { _ in
                asked.withLock { $0 += 1 }
                return false
            }
            await linked.fetchAll()
            now.withLock { $0 -= 60 }
        }
        #expect(asked.withLock { $0 } == 2)
    }
}
