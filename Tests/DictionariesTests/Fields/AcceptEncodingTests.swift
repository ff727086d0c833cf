internal import Dictionaries
internal import Testing

/// RFC 9110 section 12.5.3 and RFC 9842 section 6.1.
struct AcceptEncodingTests {
    @Test(arguments: [
        "*", "*;q=1", "gzip, br, zstd, *", "dcz;q=0, *", "dcz;q=0.000", "xdcz", "dczx",
        "dcz2",
        "dcz;q=1.5", "dcz;q=2", "dcz;q=-1", "dcz;q=", "dcz;q", "dcz;", "dcz;level=3", "dcz;q=0.1234",
        "dcz;q=1.001", "dcz;q=0.:",
        "dcz q=1", "dcz=1", "\"dcz\"", "", " ", ",,,",
    ])
    func `dcz counts only where it is named with a weight above 0`(line: String) {
        #expect(AcceptEncoding([line]).quality(of: .dcz) == 0)
    }

    @Test(arguments: ["DCZ", "Dcz;q=1", "gzip, dCz", "DCB;q=0.5, DCZ"])
    func `a coding is named in any case`(line: String) {
        #expect(AcceptEncoding([line]).quality(of: .dcz) == 1000)
        #expect(
            AcceptEncoding([line.replacing("z", with: "b").replacing("Z", with: "B")]).quality(of: .dcb) > 0)
    }

    @Test(arguments: ContentCoding.allCases)
    func `without the field only identity is accepted`(coding: ContentCoding) {
        #expect((AcceptEncoding([]).quality(of: coding) > 0) == (coding == .identity))
    }

    @Test(arguments: [
        ("gzip", 1000), ("x-gzip", 1000), ("X-GZip;Q=0.5", 500), ("GZIP ; q=0.25", 250), ("gzip;q=0.001", 1),
        ("gzip;q=0.", 0), ("gzip;q=1.000", 1000), ("gzip;q=0", 0), ("*", 1000), ("*;q=0.3", 300),
        ("*;q=0", 0),
        ("gzip;q=0.2, *", 200), ("br", 0), ("gzip;q=0, *", 0), ("gzip, gzip;q=0.1", 100),
        ("gzip;q=0.1, gzip", 100),
        ("\tgzip\t;\tq=1\t", 1000), (",, gzip ,", 1000), ("deflate, gzip;q=1.0, *;q=0.5", 1000),
        ("br;q=\"a,b\", gzip;q=0.7", 700), ("gzip;q=01", 0), ("gzip;q=0.5;x=1", 0),
    ])
    func `the weight of gzip is that of its own member, else that of the wildcard`(line: String, weight: Int)
    {
        #expect(AcceptEncoding([line]).quality(of: .gzip) == weight)
    }

    @Test(arguments: [
        ("", 1), ("gzip", 1), ("identity;q=0", 0), ("*;q=0", 0), ("*;q=0, identity;q=0.5", 500),
        ("identity", 1000),
        ("*;q=0.4", 400), ("identity;q=0, *", 0),
    ])
    func `identity is accepted unless it is refused by name or by the wildcard`(line: String, weight: Int) {
        #expect(AcceptEncoding([line]).quality(of: .identity) == weight)
    }

    @Test func `several lines are one list`() {
        let accept = AcceptEncoding(["gzip;q=0.5, br", "zstd;q=0.9", "dcb, dcz;q=0.1"])
        let weights = ContentCoding.allCases.map { accept.quality(of: $0) }
        #expect(weights == [1, 500, 1000, 900, 1000, 100])
    }

    @Test func `an unclosed quotation mark does not hide the members before it`() {
        let accept = AcceptEncoding(["dcz, br;q=\"0.5, gzip"])
        #expect(accept.quality(of: .dcz) == 1000)
        #expect(accept.quality(of: .gzip) == 0)
    }
}
