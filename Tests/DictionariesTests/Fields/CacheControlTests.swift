internal import Dictionaries
internal import Testing

/// RFC 9111 section 5.2.
struct CacheControlTests {
    @Test(
        arguments: [
            ("", nil), ("max-age", 0), ("max-age=", 0), ("max-age=x", 0), ("max-age=-1", 0),
            ("max-age=1.5", 0),
            ("max-age=60", 60), ("MAX-AGE=60", 60), ("max-age=\"60\"", 60), ("max-age=60, max-age=5", 5),
            ("max-age=5, max-age=60", 5), ("max-age=60, max-age=x", 0),
            ("max-age=99999999999999999999", 1 << 31),
            ("x-max-age=60", nil), ("max-age =60", 0), ("max-age=60;", 0), ("a=\"max-age=60\"", nil),
            ("a=\", max-age=60", nil),
        ] as [(String, Int?)])
    func `of two lifetimes the shorter counts, an invalid one is 0`(line: String, seconds: Int?) {
        #expect(CacheControl([line]).maxAge == seconds)
    }

    @Test(arguments: [
        ("stale-while-revalidate=60", 60), ("stale-while-revalidate=60, stale-while-revalidate=5", 5),
        ("stale-while-revalidate=5, stale-while-revalidate=60", 5), ("stale-while-revalidate", 0),
        ("stale-while-revalidate=60, stale-while-revalidate=x", 0),
    ])
    func `of two times of stale use the shorter counts, an invalid one is 0`(line: String, seconds: Int) {
        #expect(CacheControl([line]).staleWhileRevalidate == seconds)
    }

    @Test(arguments: [
        "private", "PRIVATE", "private=\"set-cookie, x\"", "public, private", "private=", "max-age=1,private",
    ])
    func `private counts, qualified or not`(line: String) {
        #expect(CacheControl([line]).isPrivate)
    }

    @Test(arguments: [
        "no-store", "No-Store", "no-store=x", "public, max-age=60, no-store", "private=\"a\", no-store",
    ])
    func `no-store counts wherever it stands`(line: String) {
        #expect(CacheControl([line]).noStore)
    }

    @Test(arguments: [
        ("max-age=\"60, no-store", CacheControl(["no-store"])), ("x=\"a, private", CacheControl(["private"])),
        ("y=\"a\", x=\", no-transform, max-age=9, public", CacheControl(["no-transform"])),
        ("x=\"a, no-cache", CacheControl(["no-cache"])),
        ("max-age=\"60, must-revalidate", CacheControl(["must-revalidate"])),
    ])
    func `a quote that nothing closes hides nothing that forbids`(line: String, hidden: CacheControl) {
        let read = CacheControl([line])
        #expect(read.noStore == hidden.noStore && read.isPrivate == hidden.isPrivate)
        #expect(read.noCache == hidden.noCache && read.mustRevalidate == hidden.mustRevalidate)
        #expect(read.noTransform == hidden.noTransform && !read.isPublic)
    }

    @Test(arguments: ["no-store2", "x=\"no-store\"", "nostore", "x=\"a\\\", no-store\"", "no_store"])
    func `what only looks like no-store does not count`(line: String) {
        #expect(!CacheControl([line]).noStore)
    }

    @Test(arguments: [
        "s-maxage", "s-maxage=", "s-maxage=x", "public=1", "x=\"public\"", "publicly", "max-age=60",
        "max-age=60, s-maxage=0", "s-maxage=60, s-maxage=0",
    ])
    func `a permission that is malformed or over at once permits nothing`(line: String) {
        #expect(!CacheControl([line]).permitsSharing)
    }

    @Test(arguments: ["public", "s-maxage=1", "public, s-maxage=0", "Public, max-age=0", "s-maxage=\"10\""])
    func `public and s-maxage permit sharing`(line: String) {
        #expect(CacheControl([line]).permitsSharing)
    }

    @Test func `several lines are one list`() {
        let cacheControl = CacheControl([
            "no-cache=\"x\", no-transform", "must-revalidate, immutable",
            "stale-while-revalidate=30, s-maxage=7",
        ])
        var expected = CacheControl()
        expected.noCache = true
        expected.noTransform = true
        expected.mustRevalidate = true
        expected.permitsAuthorization = true
        expected.immutable = true
        expected.staleWhileRevalidate = 30
        expected.sMaxAge = 7
        #expect(cacheControl == expected)
    }
}

/// The values that may be set as a Cache-Control field.
struct CacheControlGrammarTests {
    @Test(arguments: [
        "no-cache", "max-age=60", "public, max-age=60, stale-while-revalidate=86400", "max-age=\"60\"",
        "private=\"set-cookie, x\"", "Private , , MAX-AGE=0", "extension=token", "a=\"q\\\"uoted\"",
    ])
    func `a list of directives is a value`(value: String) {
        #expect(CacheControl.isWellFormed(value))
    }

    @Test(arguments: [
        "", " ", ",", "max-age", "max-age=", "max-age=-1", "max-age=1s", "max-age=1 2", "max age=1", "=1",
        "stale-while-revalidate", "s-maxage=x", "a=\"open", "a=\"x\"y", "a=b c", "a b", "max-age=60; public",
        "a=\"x\\", "a=\u{e9}", "a=\"\u{1}\"", "public\r\nX: y",
        "stale-if-error", "stale-if-error=x",
    ])
    func `anything else is none`(value: String) {
        #expect(!CacheControl.isWellFormed(value))
    }
}
