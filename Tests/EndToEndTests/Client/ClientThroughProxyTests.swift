internal import DictumClient
internal import Foundation
internal import FoundationNetworking
internal import Primitives
internal import TestSupport
internal import Testing

/// The client of apps against `dictum serve`.
@Suite struct ClientThroughProxyTests {
    private let version = Guarded<Int>(0)
    private let metrics = Guarded<[FetchMetrics]>([])
    private let folder: TemporaryFolder
    private let proxy: ServedProxy

    init() throws {
        let origin = try Origin.closing { [version] _ in
            let number = version.withLock { value in
                value += 1
                return value
            }
            return Wire.ok("Content-Type: application/json", "Cache-Control: max-age=600", body: feed(number))
        }
        folder = try TemporaryFolder()
        proxy = try ServedProxy(origin, in: folder)
    }

    /// Fetches the feed, which is another one each time; returns the coding in which it came.
    private func poll(_ client: DictionaryClient) async throws -> String {
        let url = try #require(URL(string: proxy.url("/feed")))
        let (body, _) = try await client.data(from: url, using: WireTransport())
        #expect([UInt8](body) == feed(version.withLock { $0 }))
        return try #require(metrics.withLock { $0 }.last).coding
    }

    @Test(.timeLimit(.minutes(40)))
    func `from the second request on deltas come, after a restart too, and for each user apart`() async throws
    {
        let first = try openClient(in: folder, metrics).forUser("one")
        #expect(try await poll(first) != "dcz")
        #expect(try await poll(first) == "dcz")
        let second = try openClient(in: folder, metrics)
        #expect(try await poll(second.forUser("one")) == "dcz")
        #expect(try await poll(second.forUser("two")) != "dcz")
        await second.forUser("one").removeAll()
        #expect(try await poll(second.forUser("one")) != "dcz")
        #expect(try await poll(second.forUser("two")) == "dcz")
        proxy.origin.stop()
    }

    @Test(.timeLimit(.minutes(40)))
    func `an upload of what was fetched goes up as a delta, and arrives plain`() async throws {
        let echo = try Origin { request, connection in
            let isGet = request.method == "GET"
            connection.send(
                Wire.ok(
                    "Content-Type: \(isGet ? "application/json" : "text/plain")",
                    "Cache-Control: max-age=600",
                    body: isGet ? feed(1) : request.body))
            connection.finish()
        }
        let uploads = try ServedProxy(echo, in: folder, "routes: [{match: /feed, requests: dictionary}]")
        let client = try openClient(in: folder, metrics)
        let url = try #require(URL(string: uploads.url("/feed")))
        _ = try await client.data(from: url, using: WireTransport())
        var request = URLRequest(url: url)
        request.httpMethod = "PUT"
        request.httpBody = Data(feed(2))
        let (body, _) = try await client.data(for: request, using: WireTransport())
        #expect([UInt8](body) == feed(2))
        let figures = try #require(metrics.withLock { $0 }.last)
        #expect(figures.requestBytes * 5 < feed(2).count && !figures.isRetried, "\(figures)")
        #expect(echo.requests.map(\.method) == ["GET", "PUT"])
    }
}
