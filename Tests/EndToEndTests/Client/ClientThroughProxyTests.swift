internal import DictumClient
internal import Foundation
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

    /// Opens the client's store as a new process of the app would.
    private func client() throws -> DictionaryClient {
        var options = DictionaryClient.Options()
        options.onEvent = { [metrics] event in
            if case .finished(let figures) = event { metrics.withLock { $0.append(figures) } }
        }
        let store = URL(fileURLWithPath: "\(folder.path)/client")
        return DictionaryClient(store: try .persistent(at: store, limit: .mebibytes(8)), options: options)
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
        let first = try client().forUser("one")
        #expect(try await poll(first) != "dcz")
        #expect(try await poll(first) == "dcz")
        let second = try client()
        #expect(try await poll(second.forUser("one")) == "dcz")
        #expect(try await poll(second.forUser("two")) != "dcz")
        await second.forUser("one").removeAll()
        #expect(try await poll(second.forUser("one")) != "dcz")
        #expect(try await poll(second.forUser("two")) == "dcz")
        proxy.origin.stop()
    }
}
