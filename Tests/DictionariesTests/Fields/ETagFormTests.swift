internal import Dictionaries
internal import Testing

/// The rewriting of validators (RFC 9110 section 8.8; see the article Rules).
struct ETagFormTests {
    @Test(
        arguments: [
            ("\"a\"", false, "\"a\""), ("\"a\"", true, "W/\"a\""), ("W/\"a\"", true, "W/\"a\""),
            ("W/\"a\"", false, "W/\"a\""), ("a", false, "a"), ("a", true, nil),
        ] as [(String, Bool, String?)])
    func `a change of coding weakens a tag`(upstream: String, isCodingChanged: Bool, sent: String?) {
        #expect(ETagForm.sent(upstream, isCodingChanged: isCodingChanged) == sent)
    }

    @Test(
        arguments: [
            (["\"a\""], true), (["W/\"a\""], true), (["\"b\", W/\"a\""], true), (["*"], true),
            (["\"b\""], false), ([], false), (["a"], false), ([""], false),
        ] as [([String], Bool)])
    func `If-None-Match holds whichever coding the client has`(lines: [String], isNotModified: Bool) throws {
        let tag = try #require(EntityTag("\"a\""))
        #expect(ETagForm.isNotModified(ifNoneMatch: lines, etag: tag) == isNotModified)
        #expect(ETagForm.isNotModified(ifNoneMatch: lines, etag: tag.weakened) == isNotModified)
        #expect(!ETagForm.isNotModified(ifNoneMatch: lines, etag: nil))
    }

    @Test(
        arguments: [
            (["W/\"a\""], "\"a\""), (["\"a\", W/\"b,c\""], "\"a\", \"b,c\""), (["*"], nil), (["a"], nil),
            (["\"a\""], nil), ([], nil), (["\"dictum-x\""], ""), (["W/\"dictum-x\""], ""),
            (["\"a\", \"dictum-x\"", "W/\"b\""], "\"a\", \"b\""), (["\"dictum\""], nil),
        ] as [([String], String?)])
    func `If-Match goes upstream with strong tags, and without made ones`(lines: [String], upstream: String?)
    {
        #expect(ETagForm.upstreamIfMatch(lines) == upstream)
    }

    @Test func `a weak tag that the upstream has sent goes back to it as it was`() {
        func sent(_ line: String) -> String? {
            ETagForm.upstreamIfMatch([line]) { $0.opaque == "\"a\"" }
        }
        #expect(sent("W/\"a\", W/\"b\"") == "W/\"a\", \"b\"")
        #expect(sent("W/\"a\", \"b\"") == nil)
    }

    @Test func `a made tag has 22 characters of the digest, and never goes upstream`() {
        let made = ETagForm.made(of: Digest(of: "".utf8.span))
        #expect(made == "\"dictum-47DEQpj8HBSa-_TImW-5JC\"")
        #expect(ETagForm.upstreamIfMatch(["\"a\"", made]) == "\"a\"")
    }
}
