import DictumClient
import Foundation
import FoundationNetworking
import Primitives
import TestSupport
import Testing

@Suite struct UserTests {
    private let folder = ClientFolder()

    @Test func `users never name each other's dictionaries`() async throws {
        let client = try folder.client()
        let server = ScriptedTransport([try response(feed(0)), try response(feed(1)), try response(feed(2))])
        for user in [client.forUser("one"), client.forUser("two"), client, client.forUser("one")] {
            _ = try await user.data(from: feedURL, using: server)
        }
        #expect(server.named == [nil, nil, nil, name(of: feed(0))])
    }

    @Test func `after removeAll nothing of the user is left, and others keep theirs`() async throws {
        let client = try folder.client()
        let server = ScriptedTransport([try response(feed(0)), try response(feed(1)), try response(feed(2))])
        let (one, two) = (client.forUser("one"), client.forUser("two"))
        for user in [one, two] { _ = try await user.data(from: feedURL, using: server) }
        await one.removeAll()
        #expect(folder.files(endingIn: ".dictum.body").count == 1)
        for user in [one, two] { _ = try await user.data(from: feedURL, using: server) }
        #expect(server.named == [nil, nil, nil, name(of: feed(1))])
    }

    @Test func `a response that is on its way at the logout is not kept`() async throws {
        let client = try folder.client().forUser("one")
        let server = ScriptedTransport { _ in
            await client.removeAll()
            return try response(feed(0))
        }
        #expect(try await client.data(from: feedURL, using: server).0 == feed(0))
        #expect(folder.metrics.map(\.isKept) == [false])
        #expect(folder.files(endingIn: ".dictum.body").isEmpty)
    }

    @Test func `a response behind a redirect is not kept if the user logs out in between`() async throws {
        let client = try folder.client().forUser("one")
        let server = ScriptedTransport { request in
            guard request.url?.path == "/feed" else { return try response(feed(0)) }
            await client.removeAll()
            return TransportResponse(status: 307, fields: [("Location", "/feed/1")], body: Data())
        }
        #expect(try await client.data(from: feedURL, using: server).0 == feed(0))
        #expect(folder.metrics.map(\.isKept) == [false])
        #expect(folder.files(endingIn: ".dictum.body").isEmpty)
    }

    @Test(arguments: [("PUT", "https://api.test/feed"), ("GET", "http://api.test/feed")])
    func `a user has no folder unless something may be kept`(method: String, url: String) async throws {
        let client = try folder.client().forUser("one")
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = method
        _ = try await client.data(for: request, using: ScriptedTransport([try response(feed(0))]))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
    }

    @Test(arguments: [true, false])
    func `of what is behind a redirect nothing is kept if the log-out in between left no trace`(logsOut: Bool)
        async throws
    {
        let client = try folder.client().forUser("one")
        let server = ScriptedTransport { request in
            guard request.url?.scheme == "http" else { return try response(feed(0)) }
            if logsOut { await client.removeAll() }
            return TransportResponse(
                status: 308, fields: [("Location", "https://api.test/feed")], body: Data())
        }
        let url = try #require(URL(string: "http://api.test/feed"))
        for _ in 0..<2 { _ = try await client.data(from: url, using: server) }
        #expect(folder.metrics.map(\.isKept) == [false, !logsOut])
    }

    @Test(arguments: [("\"cookies\"", 200), ("\"cache\"", 302), ("\"*\"", 401), ("\"storage\"", 200)])
    func `a response that clears the cache or the cookies ends the user's dictionaries of its origin`(
        directive: String, status: Int
    ) async throws {
        let client = try folder.client()
        let (one, two) = (client.forUser("one"), client.forUser("two"))
        let other = try #require(URL(string: "https://api.test.other/feed"))
        for (user, url) in [(one, feedURL), (one, other), (two, feedURL)] {
            _ = try await user.data(from: url, using: ScriptedTransport([try response(feed(0))]))
        }
        let logOut = ScriptedTransport { request in
            guard request.url?.path == "/logout" else { return try response(feed(1), match: nil) }
            var fields = try response(feed(2), match: "/logout").fields
            fields += [(name: "Clear-Site-Data", value: directive), (name: "Location", value: "/")]
            return TransportResponse(status: status, fields: fields, body: feed(2))
        }
        _ = try await one.data(from: try #require(URL(string: "https://api.test/logout")), using: logOut)
        let isCleared = directive != "\"storage\""
        #expect(try await one.named("feed") == (isCleared ? nil : name(of: feed(0))))
        #expect(try await two.named("feed") == name(of: feed(0)))
        let server = ScriptedTransport([try response(feed(3), match: nil)])
        _ = try await one.data(from: other, using: server)
        #expect(server.named == [name(of: feed(0))])
        #expect(folder.files(endingIn: ".dictum.body").count == (isCleared ? 2 : 4))
    }

    @Test func `the store removes what users of earlier runs have left`() async throws {
        let server = ScriptedTransport([try response(feed(0))])
        _ = try await folder.client().forUser("one").data(from: feedURL, using: server)
        try await ClientStore.persistent(at: folder.url, limit: .mebibytes(1)).removeAll()
        #expect(folder.files(endingIn: ".dictum.body").isEmpty)
    }
}
