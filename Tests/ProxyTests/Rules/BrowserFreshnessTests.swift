internal import Dictionaries
internal import HTTP
internal import Proxy
internal import Testing

/// The responses that no browser keeps as a dictionary, with their reasons.
struct BrowserFreshnessTests {
    /// Returns the reason for a response that came 1000 s after the beginning of 1970.
    private func reason(_ fields: (HeaderName, String)..., isOfGET: Bool = true) -> UnkeptReason? {
        var headers = Headers()
        for (name, value) in fields { headers.append(name, value) }
        return BrowserFreshness(
            headers, CacheControl(headers.values(.cacheControl)), hasHeuristic: isOfGET, receivedAt: 1_000
        ).obstacle
    }

    private static let soon = "Thu, 01 Jan 1970 00:16:45 GMT"
    private static let longAgo = "Thu, 01 Jan 1970 00:00:00 GMT"

    @Test(
        arguments: [
            ("no-store", .noStore), ("no-cache", .noCache), ("no-cache, max-age=60", .noCache),
            ("max-age=60, no-store", .noStore), ("max-age=0", .expired), ("max-age=x", .expired),
            ("s-maxage=60", .sharedOnly), ("s-maxage=60, public", .sharedOnly), ("", .noLifetime),
            ("public", .noLifetime), ("max-age=0, stale-while-revalidate=60, must-revalidate", .expired),
        ] as [(String, UnkeptReason)])
    func `a response without a life of its own is not kept`(line: String, expected: UnkeptReason) {
        #expect(reason((.cacheControl, line)) == expected)
    }

    @Test(arguments: [
        "max-age=1", "private, max-age=60", "max-age=0, stale-while-revalidate=1",
        "max-age=60, must-revalidate",
    ])
    func `a response that is fresh, or stale but usable, is kept`(line: String) {
        #expect(reason((.cacheControl, line)) == nil)
    }

    @Test func `an ETag gives no life, Expires and Last-Modified do`() {
        #expect(reason((.etag, #""v1""#)) == .etagOnly)
        #expect(reason((.expires, Self.soon)) == nil)
        #expect(reason((.lastModified, Self.longAgo)) == nil)
        #expect(reason((.etag, #""v1""#), (.expires, Self.longAgo)) == .expired)
        #expect(reason((.cacheControl, "must-revalidate"), (.lastModified, Self.longAgo)) == .noLifetime)
        #expect(reason((.cacheControl, "s-maxage=60"), (.etag, #""v1""#)) == .sharedOnly)
    }

    @Test func `Last-Modified gives no life to responses of other methods than GET`() {
        #expect(reason((.lastModified, Self.longAgo), isOfGET: false) == .noLifetime)
        #expect(reason((.expires, Self.soon), isOfGET: false) == nil)
    }

    @Test func `no-store and Vary star come first`() {
        #expect(reason((.cacheControl, "no-store, max-age=60"), (.vary, "*")) == .noStore)
        #expect(reason((.cacheControl, "max-age=60"), (.vary, "*")) == .varyAny)
        #expect(reason((.cacheControl, "no-cache"), (.vary, "*")) == .varyAny)
        #expect(reason((.cacheControl, "max-age=60"), (.pragma, "no-cache")) == .noCache)
    }
}
