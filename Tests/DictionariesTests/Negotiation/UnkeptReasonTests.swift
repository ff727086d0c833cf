internal import Dictionaries
internal import Testing

/// The responses that no browser keeps as a dictionary, with their reasons.
struct UnkeptReasonTests {
    private func reason(
        _ lines: [String], _ change: (inout UnkeptReason.Fields) -> Void = { _ in }, remaining: Int64 = 0
    ) -> UnkeptReason? {
        var fields = UnkeptReason.Fields()
        change(&fields)
        return UnkeptReason.find(CacheControl(lines), fields) { remaining }
    }

    @Test(
        arguments: [
            ("no-store", .noStore), ("no-cache", .noCache), ("no-cache, max-age=60", .noCache),
            ("max-age=60, no-store", .noStore), ("max-age=0", .expired), ("max-age=x", .expired),
            ("s-maxage=60", .sharedOnly), ("s-maxage=60, public", .sharedOnly), ("", .noLifetime),
            ("public", .noLifetime), ("max-age=0, stale-while-revalidate=60, must-revalidate", .expired),
        ] as [(String, UnkeptReason)])
    func `an answer without a life of its own is not kept`(line: String, expected: UnkeptReason) {
        let directives = CacheControl([line])
        let life = Freshness(cacheControl: directives, receivedAt: 1_000).remainingSeconds(at: 1_000)
        #expect(reason(line.isEmpty ? [] : [line], remaining: life) == expected)
    }

    @Test(arguments: [
        "max-age=1", "private, max-age=60", "max-age=0, stale-while-revalidate=1",
        "max-age=60, must-revalidate",
    ])
    func `an answer that is fresh, or stale but usable, is kept`(line: String) {
        let directives = CacheControl([line])
        let life = Freshness(cacheControl: directives, receivedAt: 1_000).remainingSeconds(at: 1_000)
        #expect(reason([line], remaining: life) == nil)
    }

    @Test func `an ETag gives no life, Expires and Last-Modified do`() {
        #expect(reason([]) { $0.hasETag = true } == .etagOnly)
        #expect(reason([], { $0.hasExpires = true }, remaining: 5) == nil)
        #expect(reason([], { $0.hasLastModified = true }, remaining: 5) == nil)
        #expect(reason([], { ($0.hasETag, $0.hasExpires) = (true, true) }, remaining: 0) == .expired)
    }

    @Test func `no-store and Vary star come first`() {
        #expect(reason(["no-store, max-age=60"], { $0.variesByAnything = true }, remaining: 60) == .noStore)
        #expect(reason(["max-age=60"], { $0.variesByAnything = true }, remaining: 60) == .varyAny)
    }
}
