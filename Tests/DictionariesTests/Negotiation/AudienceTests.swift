internal import Dictionaries
internal import Testing

/// The clients that may use a response as a dictionary.
struct AudienceTests {
    static func audience(
        _ own: String, sent: String? = nil, _ change: (inout Exchange) -> Void = { _ in }
    ) -> Audience {
        var exchange = Exchange(Change { _ in })
        exchange.response.cacheControl = CacheControl([own])
        exchange.response.sentCacheControl = CacheControl([sent ?? own])
        change(&exchange)
        return Audience.of(
            request: exchange.request, response: exchange.response, policy: exchange.route.policy)
    }

    @Test(arguments: ["public", "s-maxage=60", "public, max-age=0, no-cache"])
    func `everybody may where the response says so`(control: String) {
        #expect(Self.audience(control) == .public)
        #expect(Self.audience(control) { $0.request.hasCookie = true } == .public)
        #expect(Self.audience(control) { $0.response.setCookieNames = ["a"] } == .personal)
        #expect(Self.audience("\(control), private") == .personal)
    }

    @Test(arguments: ["", "max-age=60", "no-cache", "immutable, max-age=31536000", "must-revalidate"])
    func `holders may where nobody says whose it is`(control: String) {
        #expect(Self.audience(control) == .unlisted)
        #expect(Self.audience(control) { $0.response.varyNames = ["cookie", "authorization"] } == .unlisted)
        #expect(Self.audience(control) { $0.request.hasPersonalField = true } == .personal)
    }

    @Test func `what the route sends in place of the upstream's word counts`() {
        #expect(Self.audience("no-cache", sent: "public, max-age=60") == .public)
        #expect(Self.audience("public, no-cache", sent: "max-age=60") == .public)
        #expect(Self.audience("public", sent: "private, max-age=60") == .unlisted)
    }

    @Test func `what should not be stored and what an identity owns are personal`() {
        #expect(Self.audience("no-store, public") == .personal)
        #expect(Self.audience("public") { $0.route.scope = .private } == .personal)
    }
}
