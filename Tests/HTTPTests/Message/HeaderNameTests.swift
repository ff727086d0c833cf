import Primitives
import Testing

@testable import HTTP

struct HeaderNameTests {
    @Test(arguments: ["", " ", "a b", "a:", "a\r\n", "é", "a\u{0}", "(a)", "a,b", "\"a\""])
    func `what is no token is no name`(text: String) {
        #expect(HeaderName(text) == nil)
    }

    @Test(arguments: ["content-length", "CONTENT-LENGTH", "Content-Length", "cOnTeNt-LeNgTh"])
    func `a well-known name is found in any case`(text: String) {
        #expect(HeaderName(text) == .contentLength)
        #expect(HeaderName(text)?.id != 0)
        #expect(HeaderName(text)?.text == "Content-Length")
    }

    @Test(arguments: ["X-Very-Own-Name-Of-Ours", "content-lengtH2", "hos", "hostt", "a"])
    func `any other name is equal in any case and written in lower case`(text: String) {
        #expect(HeaderName(text)?.id == 0)
        #expect(HeaderName(text) == HeaderName(text.uppercased()))
        #expect(HeaderName(text)?.text == text.lowercased())
    }

    @Test func `every listed name is found under its own number`() {
        #expect(HeaderNameTable.names.count < 256)
        #expect(Set(HeaderNameTable.names.map { $0.lowercased() }).count == HeaderNameTable.names.count)
        for (index, name) in HeaderNameTable.names.enumerated() {
            #expect(HeaderName(name)?.id == UInt8(index + 1))
            #expect(HeaderName(name.uppercased())?.text == name)
        }
    }

    @Test func `every number has the name that it says`() {
        for number in HeaderNumber.allCases {
            let spelling = HeaderName(number).text
            #expect("\(number)".lowercased() == spelling.filter { $0 != "-" }.lowercased())
        }
    }

    @Test(arguments: [
        "Age", "ETag", "TE", "If-None-Match", "Content-MD5", "Dictionary-ID", "Sec-CH-UA-Platform", "Via",
        "HTTP2-Settings", "Cross-Origin-Resource-Policy", "Access-Control-Allow-Credentials",
        "X-XSS-Protection",
    ])
    func `names are written with the hyphens and capitals of their specifications`(name: String) {
        #expect(HeaderNameTable.names.contains(name))
    }

    @Test func `the bytes of a token are those of RFC 9110`() {
        let tokenBytes = Set(
            "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
        for byte in UInt8.min...UInt8.max {
            #expect(ASCII.isToken(byte) == tokenBytes.contains(byte), "\(byte)")
        }
    }

    @Test(arguments: [
        ("Content_Length", "content-length", true), ("content.length", "Content-Length", true),
        ("CONTENT-LENGTH", "content-length", true), ("contentlength", "content-length", false),
        ("content_length2", "content-length", false), ("content_lengt", "content-length", false),
    ])
    func `a name looks like another if all letters and digits are the same, and one has odd punctuation`(
        name: String, other: String, isAlike: Bool
    ) {
        #expect(name.utf8.span.looksLikeName(other.utf8.span) == isAlike)
        #expect(other.utf8.span.looksLikeName(name.utf8.span) == isAlike)
    }

    @Test func `only letters fold`() {
        for byte in UInt8.min...UInt8.max {
            let isUpper = (0x41...0x5a).contains(byte)
            #expect(ASCII.lowercased(byte) == (isUpper ? byte + 32 : byte))
        }
    }

    @Test func `every listed name is found in any case, and nothing that differs from it in one byte is`() {
        for (index, name) in HeaderNameTable.names.enumerated() {
            for spelling in [name, name.lowercased(), name.uppercased()] {
                #expect(Int(HeaderNameTable.shared.id(of: spelling.utf8.span)) == index + 1)
            }
            for place in 0..<name.utf8.count {
                for byte in UInt8.min...UInt8.max where ASCII.isFieldValue(byte) {
                    var other = Array(name.utf8)
                    guard ASCII.lowercased(other[place]) != ASCII.lowercased(byte) else { continue }
                    other[place] = byte
                    if Int(HeaderNameTable.shared.id(of: other.span)) == index + 1 {
                        Issue.record("\(other) is taken for \(name)")
                    }
                }
            }
        }
    }
}
