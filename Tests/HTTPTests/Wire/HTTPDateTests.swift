import Testing

@testable import HTTP

struct HTTPDateTests {
    private static let now: Int64 = 1_760_000_000  // 2025-10-09

    @Test(arguments: [
        "", "Sun", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 08:49:37 GMT ", "sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT",
        "Sun, 31 Nov 1994 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 2023 08:49:37 GMT", "Sun, 29 Feb 1900 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
        "Sun, +6 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-1994 08:49:37 GMT", "Monday, 06 Nov 94 08:49:37 GMT",
        "Satday, 06-Nov-94 08:49:37 GMT", "Sun Nov 6 08:49:37 1994",
        "Sun Nov  6 08:49:37 1994 GMT", "Sun Nov 06 08:49:37 94", "1994-11-06T08:49:37Z", "0", "784111777",
    ])
    func `what is no date is none`(text: String) {
        #expect(HTTPDate.unixSeconds(text, now: Self.now) == nil)
    }

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "Sun Nov 06 08:49:37 1994",
    ])
    func `the three forms of a date mean the same`(text: String) {
        #expect(HTTPDate.unixSeconds(text, now: Self.now) == 784_111_777)
    }

    @Test(arguments: [
        ("Monday, 06-Nov-75 00:00:00 GMT", 3_340_224_000), ("Tuesday, 06-Nov-76 00:00:00 GMT", 216_086_400),
        ("Wednesday, 01-Jan-70 00:00:00 GMT", 3_155_760_000),
        ("Thursday, 31-Dec-99 00:00:00 GMT", 946_598_400),
        ("Friday, 09-Oct-25 00:00:00 GMT", 1_759_968_000),
        ("Saturday, 09-Oct-25 00:00:00 GMT", 1_759_968_000),
    ])
    func `a year of two digits is at most fifty years ahead`(text: String, seconds: Int64) {
        #expect(HTTPDate.unixSeconds(text, now: Self.now) == seconds)
    }

    @Test(
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
            (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
            (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
            (253_402_300_800, "Fri, 31 Dec 9999 23:59:59 GMT"), (.max, "Fri, 31 Dec 9999 23:59:59 GMT"),
            (-62_167_219_200, "Sat, 01 Jan 0000 00:00:00 GMT"), (.min, "Sat, 01 Jan 0000 00:00:00 GMT"),
        ] as [(Int64, String)])
    func `a time is written as an IMF-fixdate`(seconds: Int64, text: String) {
        #expect(String(HTTPDate.bytes(unixSeconds: seconds).span) == text)
        #expect(text.utf8.count == HTTPDate.byteCount)
    }

    @Test func `what is written is read back`() {
        var random = SplitMix64(state: 5322)
        for _ in 0..<2_000 {
            let seconds = Int64.random(in: -62_167_219_200...253_402_300_799, using: &random)
            let bytes = HTTPDate.bytes(unixSeconds: seconds)
            #expect(HTTPDate.unixSeconds(bytes.span, now: Self.now) == seconds)
        }
    }

    @Test func `a leap second is the first of the next minute`() {
        #expect(HTTPDate.unixSeconds("Sat, 31 Dec 2016 23:59:60 GMT", now: Self.now) == 1_483_228_800)
    }
}
