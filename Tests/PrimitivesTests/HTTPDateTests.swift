internal import Primitives
import Testing

struct HTTPDateTests {
    private static let now: Int64 = 1_760_000_000  // 2025-10-09

    @Test(arguments: [
        "", "0", "-1", "784111777", "Sun", "Sun,", "Sun, ", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 1994 08:49:37 GMT ",
        "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT",
        "Sun, 0\u{661} Nov 1994 08:49:37 GMT",
        "Sun, 06 Nox 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 2023 08:49:37 GMT", "Sun, 29 Feb 1900 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:60:37 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08-49-37 GMT",
        "Sunday, 06-Nov-1994 08:49:37 GMT", "Monday, 06 Nov 94 08:49:37 GMT", "Sun Nov 6 08:49:37 1994",
        "Sun Nov  6 08:49:37 1994 GMT", "Sun Nov 06 08:49:37 94", "1994-11-06T08:49:37Z",
        "Su, 06 Nov 1994 08:49:37 GMT", "Sundaysundaysunday, 06 Nov 1994 08:49:37 GMT",
    ])
    func `anything but the three forms is no date`(text: String) {
        #expect(HTTPDate.unixSeconds(text, now: Self.now) == nil)
    }

    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Sun Nov 06 08:49:37 1994", 784_111_777),
        ("sun, 06 nov 1994 08:49:37 gmt", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Wed Nov 16 08:49:37 1994", 784_975_777), ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000),
        ("Fri, 01 Mar 2024 00:00:00 GMT", 1_709_251_200), ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
        ("Saturday, 01-Jan-00 00:00:00 GMT", 946_684_800), ("Mon, 31 Dec 1900 00:00:00 GMT", -2_177_539_200),
    ])
    func `the three forms are read`(text: String, seconds: Int64) {
        #expect(HTTPDate.unixSeconds(text, now: Self.now) == seconds)
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
        for step in Int64(0)..<2_000 {
            let seconds = -62_167_219_200 + step * 157_733_513 + step * step % 86_400
            let bytes = HTTPDate.bytes(unixSeconds: seconds)
            #expect(HTTPDate.unixSeconds(bytes.span, now: Self.now) == seconds)
        }
    }

    @Test func `the window of a year of two digits moves with the present`() {
        // 2025 has 2075 in fifty years; 2026 has 2076.
        let text = "Friday, 06-Nov-76 00:00:00 GMT"
        #expect(HTTPDate.unixSeconds(text, now: 1_767_225_599) == 216_086_400)
        #expect(HTTPDate.unixSeconds(text, now: 1_767_225_600) == 3_371_846_400)
    }

    @Test(arguments: [
        ("Fri, 31 Dec 1999 23:59:60 GMT", 946_684_799), ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_799),
    ])
    func `a leap second is the second before it`(text: String, seconds: Int64) {
        #expect(HTTPDate.unixSeconds(text, now: Self.now) == seconds)
    }
}
