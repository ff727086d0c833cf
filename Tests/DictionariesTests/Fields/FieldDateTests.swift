internal import Dictionaries
internal import Testing

/// RFC 9110 section 5.6.7.
struct FieldDateTests {
    @Test(arguments: [
        "", "0", "-1", "Sun", "Sun,", "Sun, ", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:49:37",
        "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:60:37 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT",
        "Sun, 29 Feb 2023 08:49:37 GMT", "Sun, 29 Feb 1900 08:49:37 GMT", "Sun, 06 Nox 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT ", "Sun, 06 Nov 94 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT",
        "Sun Nov 06 08:49:37 94", "Sun Nov 6 08:49:37 1994", "1994-11-06T08:49:37Z",
        "Sun, 06 Nov 1994 08-49-37 GMT",
        "Sun, 0\u{661} Nov 1994 08:49:37 GMT",
    ])
    func `anything but the three forms is no date`(text: String) {
        #expect(FieldDate.parse(text) == nil)
    }

    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Wed Nov 16 08:49:37 1994", 784_975_777), ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000),
        ("Fri, 01 Mar 2024 00:00:00 GMT", 1_709_251_200), ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
        ("Fri, 31 Dec 1999 23:59:60 GMT", 946_684_799), ("Saturday, 01-Jan-00 00:00:00 GMT", 946_684_800),
        ("Mon, 31 Dec 1900 00:00:00 GMT", -2_177_539_200), ("sun, 06 nov 1994 08:49:37 gmt", 784_111_777),
    ])
    func `the three forms are read`(text: String, seconds: Int64) {
        #expect(FieldDate.parse(text) == seconds)
    }
}
