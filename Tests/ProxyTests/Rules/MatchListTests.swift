internal import TestSupport
internal import Testing

@testable import Proxy

/// A route whose `match` is a list of patterns.
@Suite(.timeLimit(.minutes(40))) struct MatchListTests {
    private func proxy(_ covers: String) throws -> TestProxy {
        try TestProxy(
            json(Feed.bytes(version: 0, items: 40)),
            """
            routes:
            - match: ["/v1/:name", "/v2/:name"]
              dictionary: {covers: "\(covers)", delivery: in_band}
            - match: /*
              dictionary: off
            """)
    }

    @Test func `each pattern of a list takes the requests of its route, and others do not`() throws {
        let proxy = try proxy("path")
        for (path, match) in [("/v1/a", "/v1/a"), ("/v2/a", "/v2/a"), ("/v3/a", nil)] {
            #expect(
                try proxy.fetch(path)["Use-As-Dictionary"]
                    == match.map { "match=\"\($0)\"" }, "\(path)")
        }
    }

    @Test(arguments: [("pattern", "/v2/:name"), ("/*/<name>", "/*/a")])
    func `the pattern that matched is the one that is sent, or fills the template`(
        covers: String, match: String
    )
        throws
    {
        #expect(try proxy(covers).fetch("/v2/a")["Use-As-Dictionary"] == "match=\"\(match)\"")
    }
}
