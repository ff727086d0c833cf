internal import TestSupport
internal import Testing

@testable import Proxy

/// Observe mode judges the response that a client would get.
@Suite(.timeLimit(.minutes(40))) struct ObservedFieldsTests {
    @Test func `a field that Connection names makes no response personal`() throws {
        let body = Feed.bytes(version: 0, items: 60)
        let proxy = try TestProxy(
            Origin(json(body, "Cache-Control: max-age=60", "Set-Cookie: sid=1", "Connection: Set-Cookie")),
            "mode: observe\nroutes: [{match: /users/*}]")
        #expect(try proxy.fetch("/users/feed")["Set-Cookie"] == nil)
        try waitUntil("the response was observed") { try proxy.report().routes[0].observed?.responses == 1 }
        #expect(try proxy.report().routes[0].groups.map(\.match) == ["/users/feed"])
    }
}
