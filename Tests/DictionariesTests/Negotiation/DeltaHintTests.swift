internal import Dictionaries
internal import Testing

/// The hints to the operator about responses that get no deltas.
struct DeltaHintTests {
    static func hint(
        _ route: RoutePolicy = Facts.route(), _ change: (inout RequestFacts, inout ResponseFacts) -> Void
    ) -> DeltaHint? {
        var (request, response) = (Facts.request(), Facts.response())
        change(&request, &response)
        return DeltaHint.find(request: request, response: response, policy: route)
    }

    @Test func `no-store is named where nothing else forbids a dictionary`() {
        #expect(Self.hint { $1.cacheControl.noStore = true } == .noStore)
        #expect(Self.hint { ($0.hasCookie, $1.cacheControl.noStore) = (true, true) } == .noStore)
        #expect(Self.hint { ($1.contentType, $1.cacheControl.noStore) = ("image/png", true) } == nil)
        #expect(Self.hint { ($1.bodyBytes, $1.cacheControl.noStore) = (10, true) } == nil)
        #expect(Self.hint { ($1.status, $1.cacheControl.noStore) = (404, true) } == nil)
        #expect(Self.hint { ($0.method, $1.cacheControl.noStore) = (.post, true) } == nil)
        #expect(
            Self.hint { ($0.noStore, $1.cacheControl.noStore) = (true, true) } == nil, "the client's wish")
        #expect(Self.hint(Facts.route { $0.hasDictionary = false }) { $1.cacheControl.noStore = true } == nil)
    }

    @Test(arguments: ["user-agent", "referer", "sec-ch-ua", "x-forwarded-for", "x-real-ip", "x-request-id"])
    func `a field that differs from client to client is named`(field: String) {
        #expect(Self.hint { $1.varyNames = ["accept", field] } == .variesWidely(field: field))
        #expect(DeltaHint.variesWidely(field: field).text(route: "/a").contains("/a vary on \(field)"))
    }

    @Test func `many variants are told by the fields that make them`() {
        let text = DeltaHint.manyVariants(fields: ["accept-language", "origin"]).text(route: "/a")
        #expect(text.contains("/a came in very many variants by accept-language and origin"))
    }

    @Test func `what is as it should be is no reason to say anything`() {
        #expect(Self.hint { _, _ in } == nil)
        #expect(Self.hint { $1.varyNames = ["accept", "cookie", "origin", "accept-language"] } == nil)
        #expect(DeltaHint.noStore.text(route: "/a").contains("store_despite: [no-store]"))
    }
}
