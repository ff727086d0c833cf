internal import Dictionaries
internal import Testing

extension Freshness {
    /// Returns true if the response is fresh, and not only usable while stale.
    fileprivate func isFresh(at now: Int64) -> Bool { ageSeconds(at: now) < lifetimeSeconds }

    fileprivate func isUsable(at now: Int64) -> Bool { remainingSeconds(at: now) > 0 }
}

/// RFC 9111 section 4.2 for a private cache, and RFC 5861 section 3.
struct FreshnessTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT.
    static let now: Int64 = 784_111_777
    static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

    @Test(
        arguments: [
            ("", [], [], 0), ("max-age=60", [], [], 60), ("max-age=60, s-maxage=5", [], [], 60),
            ("s-maxage=60", [], [], 0),
            ("max-age=60", ["Sun, 06 Nov 1994 09:49:37 GMT"], [], 60),
            ("", ["Sun, 06 Nov 1994 09:49:37 GMT"], [], 3600),
            ("", ["Sun, 06 Nov 1994 07:49:37 GMT"], [], 0), ("", ["0"], [], 0),
            ("", ["0"], ["Sat, 05 Nov 1994 08:49:37 GMT"], 0),
            ("", ["Sun, 06 Nov 1994 09:49:37 GMT", "Sun, 06 Nov 1994 09:49:37 GMT"], [], 0),
            ("", [], ["Sat, 05 Nov 1994 08:49:37 GMT"], 8640), ("", [], ["Mon, 07 Nov 1994 08:49:37 GMT"], 0),
            ("", [], ["yesterday"], 0), ("max-age=0", [], ["Sat, 05 Nov 1994 08:49:37 GMT"], 0),
            ("no-cache, max-age=60", [], [], 0), ("no-store, max-age=60", [], [], 0),
            ("no-cache", [], ["Sat, 05 Nov 1994 08:49:37 GMT"], 0), ("private, max-age=60", [], [], 60),
        ] as [(String, [String], [String], Int64)])
    func `the lifetime is max-age, else Expires, else a tenth of the age of the resource`(
        cacheControl: String, expires: [String], lastModified: [String], seconds: Int64
    ) {
        let freshness = Freshness(
            cacheControl: CacheControl([cacheControl]), date: [Self.date], expires: expires,
            lastModified: lastModified,
            receivedAt: Self.now)
        #expect(freshness.lifetimeSeconds == seconds)
    }

    @Test func `Expires and Last-Modified are measured from Date, not from the arrival`() {
        func lifetime(_ date: [String], expires: [String] = [], lastModified: [String] = []) -> Int64 {
            Freshness(
                cacheControl: CacheControl(), date: date, expires: expires, lastModified: lastModified,
                receivedAt: Self.now + 100
            ).lifetimeSeconds
        }
        let (hourLater, dayBefore) = ("Sun, 06 Nov 1994 09:49:37 GMT", "Sat, 05 Nov 1994 08:49:37 GMT")
        #expect(lifetime([Self.date], expires: [hourLater]) == 3600)
        #expect(lifetime([Self.date], lastModified: [dayBefore]) == 8640)
        // Two lines of a field that has one say nothing.
        #expect(lifetime([Self.date, Self.date], expires: [hourLater]) == 3500)
        #expect(lifetime([Self.date], lastModified: [dayBefore, dayBefore]) == 0)
    }

    @Test(
        arguments: [
            ([], [date], 0), (["10"], [date], 10), (["10", "20"], [date], 20),
            (["10, 20"], [date], 20), (["x, 10 ,"], [date], 10), (["x"], [date], 0),
            (["-5"], [date], 0),
            ([], ["Sun, 06 Nov 1994 08:49:07 GMT"], 30), (["10"], ["Sun, 06 Nov 1994 08:49:07 GMT"], 30),
            (["40"], ["Sun, 06 Nov 1994 08:49:07 GMT"], 40), ([], ["Sun, 06 Nov 1994 08:50:07 GMT"], 0),
            ([], [], 0),
            ([], ["no date"], 0),
        ] as [([String], [String], Int64)])
    func `the age at the start is the greater of Age and what Date tells`(
        age: [String], date: [String], seconds: Int64
    ) {
        let freshness = Freshness(cacheControl: CacheControl(), age: age, date: date, receivedAt: Self.now)
        #expect(freshness.initialAgeSeconds == seconds)
    }

    @Test func `an answer is fresh until its age reaches its lifetime`() {
        let freshness = Freshness(
            cacheControl: CacheControl(["max-age=60"]), age: ["10"], receivedAt: Self.now)
        #expect(freshness.isFresh(at: Self.now + 49))
        #expect(!freshness.isFresh(at: Self.now + 50))
        #expect(freshness.ageSeconds(at: Self.now + 50) == 60)
        #expect(freshness.isFresh(at: Self.now - 100), "a clock that went back makes nothing older")
    }

    @Test func `stale-while-revalidate prolongs the use, not the freshness`() {
        let freshness = Freshness(
            cacheControl: CacheControl(["max-age=0, stale-while-revalidate=60"]), receivedAt: Self.now)
        #expect(!freshness.isFresh(at: Self.now))
        #expect(freshness.isUsable(at: Self.now + 59))
        #expect(!freshness.isUsable(at: Self.now + 60))
        #expect(freshness.remainingSeconds(at: Self.now + 20) == 40)
    }

    @Test(arguments: ["must-revalidate", "no-cache", "no-store"])
    func `what forbids stale use forbids stale-while-revalidate`(directive: String) {
        let cacheControl = CacheControl(["max-age=1, stale-while-revalidate=60, \(directive)"])
        let freshness = Freshness(cacheControl: cacheControl, receivedAt: Self.now)
        #expect(!freshness.isUsable(at: Self.now + 1))
    }

    @Test func `the longest lifetimes do not overflow`() {
        let cacheControl = CacheControl([
            "max-age=99999999999999999999, stale-while-revalidate=99999999999999999999"
        ])
        let freshness = Freshness(
            cacheControl: cacheControl, age: ["99999999999999999999"], receivedAt: Self.now)
        #expect(freshness.remainingSeconds(at: Self.now) == 1 << 31)
    }
}
