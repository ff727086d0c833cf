internal import DictumClient
internal import Foundation
internal import Primitives
internal import TestSupport
internal import Testing

/// The client of apps follows Links of `dictum serve`.
@Suite(.timeLimit(.minutes(40))) struct LinkThroughProxyTests {
    @Test func `responses that nobody may keep are deltas over what their Link names`() async throws {
        let version = Guarded<Int>(0)
        let origin = try Origin { _, connection in
            let number = version.withLock { value in
                value += 1
                return value
            }
            // The first three have the same bytes, which are then known to be public.
            connection.send(
                wire(
                    "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: public, no-cache",
                    body: feed(max(1, number - 2))))
        }
        let folder = try TemporaryFolder()
        let proxy = try ServedProxy(
            origin, in: folder, #"routes: [{match: "/*", dictionary: {delivery: link}}]"#)
        try proxy.prove("/feed")
        let metrics = Guarded<[FetchMetrics]>([])
        let client = try openClient(in: folder, metrics).forUser("one")
        let url = try #require(URL(string: proxy.url("/feed")))
        for number in 2...4 {
            let (body, _) = try await client.data(from: url, using: WireTransport())
            #expect([UInt8](body) == feed(number))
            await client.fetchLinked()
        }
        let all = metrics.withLock { $0 }
        #expect(all.map(\.isOfLink) == [false, true, false, false])
        #expect(all.filter { !$0.isOfLink }.map { $0.coding == "dcz" } == [false, true, true])
        #expect(all[1].url.path.hasPrefix("/.dictum/") && all[1].isKept)
    }
}
