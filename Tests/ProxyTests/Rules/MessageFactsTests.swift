internal import Dictionaries
internal import HTTP
internal import Testing

@testable import Proxy

/// The facts that decisions read from a response's head.
struct MessageFactsTests {
    private func facts(_ fields: (HeaderName, String)..., length: UInt64 = 7) -> ResponseFacts {
        var headers = Headers()
        for (name, value) in fields { headers.append(name, value) }
        var facts = ResponseFacts()
        facts.read(
            ResponseHead(status: .ok, headers: headers), framing: .length(length),
            types: MediaTypes(["application/json"]))
        return facts
    }

    @Test func `of several content types the first counts`() {
        let facts = facts((.contentType, "application/json"), (.contentType, "image/png"))
        #expect(facts.contentType == "application/json")
    }

    @Test func `the length of a coded body says nothing of the body's`() {
        #expect(facts((.contentType, "application/json")).bodyBytes == 7)
        #expect(facts((.contentEncoding, "gzip")).bodyBytes == nil)
    }

    @Test func `a part of a body is one by its Content-Range, and every line of Cache-Control counts`() {
        #expect(facts((.contentRange, "bytes 0-6/7")).hasContentRange && !facts().hasContentRange)
        #expect(facts((.cacheControl, "no-store"), (.cacheControl, "public")).cacheControl.noStore)
        #expect(facts((.cacheControl, "public"), (.cacheControl, "no-store")).cacheControl.noStore)
    }

    @Test func `a Link offers a dictionary if its relation says so`() {
        let (style, own) = ("</a.css>; rel=preload", "</d>; rel=compression-dictionary")
        #expect(facts((.link, own)).hasUseAsDictionary)
        #expect(facts((.link, style), (.link, own)).hasUseAsDictionary)
        #expect(!facts((.link, style)).hasUseAsDictionary)
    }

    @Test func `the name of a cookie ends where its value or its attributes begin`() {
        let facts = facts((.setCookie, "sid=a; Path=/"), (.setCookie, "lb; Path=/"))
        #expect(facts.setCookieNames.joined(separator: " ") == "sid lb")
    }
}
