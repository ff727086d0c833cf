internal import Dictionaries
internal import Foundation
internal import Primitives
internal import TestSupport
internal import Testing

/// `dictum fetch` against `dictum serve`, both as users run them.
@Suite struct FetchThroughProxyTests {
    @Test(.timeLimit(.minutes(40)), arguments: [("dcz,zstd", "dcz", "zstd"), ("dcb,br", "dcb", "br")])
    func `from the second fetch on only the difference travels`(accept: String, delta: String, plain: String)
        throws
    {
        let version = Guarded<Int>(0)
        let origin = try Origin.closing { _ in
            let number = version.withLock { value in
                value += 1
                return value
            }
            return Wire.ok("Content-Type: application/json", "Cache-Control: max-age=60", body: feed(number))
        }
        let fetching = try Fetching()
        let configuration = """
            listeners:
              - address: 127.0.0.1:0
            upstream:
              urls:
                - \(origin.url)
            store:
              path: ":memory:"
            admin: off

            """
        try fetching.folder.write(Array(configuration.utf8), to: "dictum.yaml")
        let proxy = try RunningProcess(["serve", "--config", "\(fetching.folder.path)/dictum.yaml"])
        defer {
            proxy.stop()
            origin.stop()
        }
        let log = try proxy.waitFor("listening on http://127.0.0.1:")
        let url = try #require(log.firstMatch(of: /http:\/\/127\.0\.0\.1:[0-9]+/)?.output)
        for number in 1...4 {
            let fetched = try fetching.fetch("\(url)/feed", "--accept", accept)
            #expect(fetched.body == feed(number))
            #expect(fetched.report.coding == (number == 1 ? plain : delta))
            #expect(fetched.report.stored || number > 1)
            if number > 1 { #expect(fetched.report.wire_bytes * 20 < fetched.report.body_bytes) }
        }
        #expect(try proxy.terminate().status == 0)
    }
}
