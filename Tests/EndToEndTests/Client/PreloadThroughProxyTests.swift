internal import DictumClient
internal import Foundation
internal import Primitives
internal import TestSupport
internal import Testing

/// An app that ships a built dictionary.
@Suite(.timeLimit(.minutes(40))) struct PreloadThroughProxyTests {
    private let folder: TemporaryFolder
    private let client: DictionaryClient
    private let metrics = Guarded<[FetchMetrics]>([])

    init() throws {
        folder = try TemporaryFolder()
        client = try openClient(in: folder, metrics) { $0.dictionaryBytesMax = 1 << 20 }.forUser("one")
    }

    private var file: URL { URL(fileURLWithPath: "\(folder.path)/items.dict") }

    /// The ends of the lives of the dictionaries that the client holds, as its files have them.
    private func endsOfLife() throws -> [Double] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: "\(folder.path)/client")
        return names.compactMap { name in
            let file = URL(fileURLWithPath: "\(folder.path)/client/\(name)")
            guard let bytes = try? Data(contentsOf: file) else { return nil }
            return String(decoding: bytes, as: UTF8.self)
                .firstMatch(of: /"expires_at":(\d+)/).flatMap { Double($0.output.1) }
        }
    }

    @Test func `its first response is a delta, and later ones are over the path's own version`() async throws
    {
        let origin = try Origin { request, connection in
            let number = Int(request.target.dropFirst("/items/".count).prefix { $0 != "?" }) ?? 0
            connection.send(
                wire(
                    "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: public, max-age=600",
                    body: feed(number)))
        }
        try folder.write(feed(1), to: "items.dict")
        let proxy = try ServedProxy(
            origin, in: folder, "routes: [{match: \"/items/:id\", dictionary: {built: \(file.path)}}]")
        let item = try #require(URL(string: proxy.url("/items/7")))
        for _ in 1...2 { try await client.preload(file, match: "/items/*", from: item) }
        #expect(try endsOfLife().allSatisfy { $0 > Date().timeIntervalSince1970 + 99 * 365 * 86_400 })
        #expect(try endsOfLife().count == 1)
        for target in ["/items/7", "/items/7?again", "/items/8"] {
            let url = try #require(URL(string: proxy.url(target)))
            let (body, _) = try await client.data(from: url, using: WireTransport())
            #expect([UInt8](body) == feed(target == "/items/8" ? 8 : 7))
        }
        let all = metrics.withLock { $0 }
        #expect(all.map(\.coding) == ["dcb", "dcz", "dcb"])
        #expect(all[0].dictionary == all[2].dictionary && all[0].dictionary != all[1].dictionary)
        // Its dictionaries are gone with those of its user, and come again.
        await client.removeAll()
        _ = try await client.data(from: item, using: WireTransport())
        try await client.preload(file, match: "/items/*", from: item)
        let other = try #require(URL(string: proxy.url("/items/9")))
        _ = try await client.data(from: other, using: WireTransport())
        #expect(metrics.withLock { $0 }.suffix(2).map(\.dictionary) == [nil, all[0].dictionary])
    }

    @Test func `what cannot be a dictionary is an error`() async throws {
        let server = try #require(URL(string: "https://api.test/any?x"))
        func cause(_ content: [UInt8], _ match: String, _ server: URL) async throws -> DictionaryClientError?
        {
            try folder.write(content, to: "items.dict")
            do {
                try await client.preload(file, match: match, from: server)
                return nil
            } catch let error as DictionaryClientError {
                return error
            }
        }
        #expect(try await cause([], "/items/*", server) == .notPreloaded("empty"))
        #expect(try await cause([1], "/(a)", server) == .notPreloaded("match"))
        #expect(try await cause([1], "https://other.test/*", server) == .notPreloaded("match"))
        #expect(try await cause([1], "/\u{e4}", server) == .notPreloaded("not offered"))
        let limit = [UInt8](repeating: 7, count: 1 << 20)
        #expect(try await cause(limit + [7], "/items/*", server) == .notPreloaded("too large"))
        #expect(try await cause(limit, "/items/*", server) == nil)
        #expect(try await cause([1], "/*", try #require(URL(string: "file:///a"))) == .notHTTP)
        await #expect(throws: (any Error).self) {
            try await client.preload(URL(fileURLWithPath: "/none"), match: "/*", from: server)
        }
    }
}
