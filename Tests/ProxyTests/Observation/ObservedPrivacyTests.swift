internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let ann = "Cookie: sid=ann"
private let bob = "Cookie: sid=bob"

/// Observing stores personal bodies as a live route does, so the protection of private routes holds as it does there.
@Suite(.timeLimit(.minutes(40))) struct ObservedPrivacyTests {
    /// Returns a proxy that has stored a sealed body of each of two users.
    private func proxy(isLogged: Bool = false) throws -> TestProxy {
        let body = Feed.bytes(version: 0, items: 60)
        let origin = try Origin { request, connection in
            let field = request.target.hasPrefix("/logout") ? "Clear-Site-Data: \"cache\"" : "X-A: b"
            connection.send(json(body, "Cache-Control: private, max-age=60", field))
        }
        let proxy = try TestProxy(
            origin,
            """
            mode: observe
            routes:
            - {match: /account, dictionary: {scope: private, identity: "cookie:sid"}}
            - {match: /*, dictionary: off}
            """, isLogged: isLogged)
        for user in [ann, bob] {
            _ = try proxy.fetch("/account?q=s3cret", user, "User-Agent: A/1", "Referer: http://api.test/here")
        }
        try waitUntil("both bodies are stored") { proxy.server.context.store.statistics.versions == 2 }
        return proxy
    }

    @Test func `the access log shows no query, user agent or referer of a private route`() throws {
        let lines = try proxy(isLogged: true).lastLines()
        #expect(lines.count == 2 && lines.allSatisfy { $0.contains(#""target":"/account?-""#) })
        for text in ["s3cret", "A/1", "/here"] { #expect(!lines.joined().contains(text)) }
    }

    @Test func `an order to forget a user removes the user's versions`() throws {
        let proxy = try proxy()
        let answer = try proxy.admin(
            "POST /purge?host=api.test&user=cookie:sid%3Dann HTTP/1.1", "Host: localhost",
            "Content-Type: application/json")
        #expect(answer.status == 200, "\(answer.text)")
        #expect(proxy.server.context.store.statistics.versions == 1)
    }

    @Test func `a log-out removes the user's versions`() throws {
        let proxy = try proxy()
        _ = try proxy.fetch("/logout", ann)
        try waitUntil("the store has forgotten ann") {
            proxy.server.context.store.statistics.evictions[.removed] == 1
        }
        #expect(proxy.server.context.store.statistics.versions == 1)
    }
}
