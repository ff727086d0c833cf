import Dictionaries
import Testing

/// The rules that all clients of the house ask: after a failure, about conditions, about fields and redirects.
@Suite struct ClientRulesTests {
    @Test(arguments: [
        (ContentCoding.dcz, CodingError.Stage.decode, "GET", true, true),
        (.dcb, .header, "QUERY", true, true),
        (.dcz, .end, "POST", true, false),
        (.dcz, .limit, "GET", false, false),
        (.gzip, .decode, "GET", false, false),
    ])
    func `an undecodable delta drops its dictionary, and all but a POST is sent again`(
        coding: ContentCoding, stage: CodingError.Stage, method: String, drops: Bool, asksAgain: Bool
    ) {
        let failure = DecodingFailure(CodingError(coding, stage, "x"), method: method)
        #expect(failure.dropsDictionary == drops && failure.asksAgain == asksAgain)
    }

    @Test(arguments: [
        ("GET", 200, true), ("POST", 404, true), ("GET", 302, true), ("HEAD", 200, false),
        ("GET", 204, false), ("POST", 205, false), ("GET", 206, false), ("GET", 304, false),
    ])
    func `a response to HEAD, and one without content or with a part, is not decoded`(
        method: String, status: Int, isWhole: Bool
    ) {
        #expect(CodedContent.isWhole(status: status, method: method) == isWhole)
    }

    @Test func `an empty body has no coding, but an empty delta is broken`() {
        #expect(!CodedContent.needsDecoding(bytes: 0, .gzip) && CodedContent.needsDecoding(bytes: 1, .gzip))
        #expect(CodedContent.needsDecoding(bytes: 0, .dcz) && CodedContent.needsDecoding(bytes: 0, .dcb))
    }

    @Test(arguments: [
        ("/a/x", "?v=1", "/a/y", "?v=1", false), ("/a/x", "?v=1", "/a/x?v=2", "?v=1", true),
        ("/docs/a/1", "/docs/*", "/docs/b/2", "/docs/*", true), ("/a/1", "x*", "/b/1", "x*", false),
        ("/a/1", "x*", "/b/1", "/a/x*", true), ("/a", "/b", "/a", "/c", false),
        ("/a", "https://api.test/b", "/c", "/b", true),
    ])
    func `a dictionary replaces those with the same pattern, however it is written`(
        path: String, match: String, otherPath: String, otherMatch: String, isSame: Bool
    ) {
        let keys = [(path, match), (otherPath, otherMatch)].map { path, match in
            CachedDictionary(
                url: "https://api.test\(path)", match: match, matchDest: [], id: "", digest: "", bytes: 1,
                etag: nil, storedAt: 0, usableSeconds: 0, expiresAt: 0
            ).key
        }
        #expect((keys[0] == keys[1]) == isSame)
    }

    @Test func `a client asks for a 304 by its own tag unless the request has a condition`() {
        #expect(OwnCondition.entityTag(of: held(etag: "\"a\""), isConditional: false) == "\"a\"")
        #expect(OwnCondition.entityTag(of: held(etag: "\"a\""), isConditional: true) == nil)
        #expect(OwnCondition.entityTag(of: held(etag: nil), isConditional: false) == nil)
        #expect(OwnCondition.entityTag(of: nil, isConditional: false) == nil)
    }

    @Test(arguments: [
        (["\"cache\""], true), (["\"storage\" , \"cookies\""], true), (["\"storage\"", "\"*\""], true),
        (["\"storage\""], false), (["cache"], false), (["\"Cache\""], false), ([], false),
    ])
    func `dictionaries end with the cache and with cookies`(lines: [String], end: Bool) {
        #expect(ClearSiteData.endsDictionaries(lines) == end)
    }

    @Test(arguments: [
        ("\"a\"", ["\"a\""], true), ("\"a\"", [], true), ("\"a\"", ["W/\"a\""], true),
        ("W/\"a\"", ["\"a\""], true),
        ("\"a\"", ["\"b\""], false), ("\"a\"", ["a"], false), ("a", ["a"], true), ("a", ["b"], false),
    ])
    func `a 304 confirms what has its tag`(own: String, sent: [String], isConfirmed: Bool) {
        #expect(OwnCondition.isConfirmed(held(etag: own), by: sent) == isConfirmed)
    }

    @Test(arguments: OwnCondition.fields + ["Accept", "ACCEPT-LANGUAGE", "User-Agent", "Cache-Control"])
    func `fields that say what is wanted tell nothing of who asks`(name: String) {
        #expect(NeutralFields.have(name))
    }

    @Test(arguments: [
        "Authorization", "Cookie", "Proxy-Authorization", "X-API-Key", "X-Auth-Token", "X-Forwarded-For",
        "Host",
        "Origin", "Referer", "X-Unheard-Of",
    ])
    func `any other field may be a credential`(name: String) { #expect(!NeutralFields.have(name)) }

    @Test func `a redirect takes along what the next origin and method may have`() {
        let fields = ["Accept", "X-API-Key", "Content-Type"]
        func taken(toOther isOther: Bool, keeping keepsContent: Bool) -> [String] {
            fields.filter { Redirect.takesAlong($0, toOtherOrigin: isOther, keepsContent: keepsContent) }
        }
        #expect(taken(toOther: false, keeping: true) == fields)
        #expect(taken(toOther: false, keeping: false) == ["Accept", "X-API-Key"])
        #expect(taken(toOther: true, keeping: true) == ["Accept", "Content-Type"])
        #expect(taken(toOther: true, keeping: false) == ["Accept"])
    }

    private func held(etag: String?) -> CachedDictionary {
        CachedDictionary(
            url: "https://a.test/feed", match: "/feed", matchDest: [], id: "", digest: "", bytes: 1,
            etag: etag,
            storedAt: 0, usableSeconds: 1, expiresAt: 1)
    }
}
