internal import Primitives
import Testing

struct Base64Tests {
    // RFC 4648 section 10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func `base64 is that of RFC 4648`(text: String, encoded: String) {
        let bytes = Array(text.utf8)
        #expect(Base64.encode(bytes) == encoded)
        #expect(Base64.encodeURL(bytes) == encoded.prefix { $0 != "=" })
        #expect(Base64.decodeURL(Base64.encodeURL(bytes)) == bytes)
    }

    @Test(arguments: ["A", "AAAAA", "AB", "AAB", "A=", "AA==", "A A", "é"])
    func `base64url that is not canonical is refused`(text: String) {
        #expect(Base64.decodeURL(text) == nil)
    }

    @Test(arguments: ["A", "AB==", "AAA", "AA=", "A===", "AA=A", "AAB=", "+A-_", "AA A", "AA==AA=="])
    func `base64 that is not canonical is refused`(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test(arguments: [("", 0), ("AA==", 1), ("AAA=", 2), ("AAAA", 3), ("+/+/", 3)])
    func `canonical base64 is read`(text: String, count: Int) {
        #expect(Base64.decode(text)?.count == count)
        #expect(Base64.decode(text).map(Base64.encode) == text)
    }

    @Test(arguments: [
        ("", 0), ("AA", 1), ("AA==", 1), ("AB==", 1), ("AAA", 2), ("AAA=", 2), ("AAAA", 3), ("/+AA", 3),
    ])
    func `a byte sequence is read with or without its padding`(text: String, count: Int) {
        #expect(Base64.decodeByteSequence(text.utf8.span)?.count == count)
    }

    @Test(arguments: ["A", "A===", "AA=", "AAAAA", "A-_A", "=", "A A=", "AA==" + "="])
    func `what is no byte sequence is refused`(text: String) {
        #expect(Base64.decodeByteSequence(text.utf8.span) == nil)
    }
}
