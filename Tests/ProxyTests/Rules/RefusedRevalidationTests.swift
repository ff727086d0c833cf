internal import TestSupport
internal import Testing

@testable import Proxy

private let first = Feed.bytes(version: 0, items: 40)
private let routes = #"routes: [{match: "/*", dictionary: {revalidate: true}}]"#

/// Responses to a revalidation that do not let the stored body go out.
@Suite(.timeLimit(.minutes(40))) struct RefusedRevalidationTests {
    @Test(arguments: [
        [], [#"ETag: W/"v1""#], [#"ETag: "v2""#], [#"ETag: "v1""#, #"ETag: "v1""#],
        [#"ETag: "v1""#, "Content-Encoding: gzip"], [#"ETag: "v1""#, "Connection: close, ETag"],
    ])
    func
        `a 304 without the stored strong tag has the request sent again without condition, and never asked again`(
            fields: [String]
        ) throws
    {
        let proxy = try TestProxy(conditional(on304: fields), routes)
        for _ in 1...3 { #expect(try proxy.fetch("/feed").carries(first)) }
        #expect(proxy.conditions == [nil, #""v1""#, nil, nil])
        #expect(try proxy.metrics().contains(#"dictum_revalidations_total{result="retried"} 1"#))
    }

    @Test func `an upstream that breaks off after such a 304 is a 502, not the stored body`() throws {
        let origin = try Origin { request, connection in
            if request["X-Turn"] == "1" {
                connection.send(json(first, #"ETag: "v1""#))
            } else if request["If-None-Match"] != nil {
                connection.send(wire("HTTP/1.1 304 Not Modified", #"ETag: "v2""#))
            } else {
                connection.finish()
            }
        }
        let proxy = try TestProxy(origin, routes)
        _ = try proxy.fetch("/feed", "X-Turn: 1")
        #expect(try proxy.fetch("/feed", "X-Turn: 2").status == 502)
    }

    @Test func `an error instead of a 304 goes to the client as it is`() throws {
        let error = wire("HTTP/1.1 503 Service Unavailable", "Retry-After: 9", body: [0x78])
        let proxy = try TestProxy(Origin([json(first, #"ETag: "v1""#), error]), routes)
        _ = try proxy.fetch("/feed")
        let answer = try proxy.fetch("/feed")
        #expect(answer.status == 503)
        #expect(answer["Retry-After"] == "9")
    }
}
