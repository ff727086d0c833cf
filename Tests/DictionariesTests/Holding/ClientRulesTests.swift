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

    @Test(arguments: [
        "Accept", "Accept-Charset", "Accept-Encoding", "ACCEPT-LANGUAGE", "Prefer", "User-Agent",
        "Cache-Control", "Pragma", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
        "If-Range", "Range", "Content-Type", "Content-Length", "Content-Encoding", "Content-Language", "DNT",
        "Sec-GPC", "Sec-Fetch-Dest", "Sec-Fetch-Mode", "Sec-Fetch-Site", "Sec-Fetch-User",
        "Upgrade-Insecure-Requests", "X-Requested-With", "Priority", "traceparent", "X-Request-ID",
    ])
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
        let fields = ["Accept", "X-API-Key", "Content-Type", "Content-Length", "Content-Encoding"]
        func taken(toOther isOther: Bool, keeping keepsContent: Bool) -> [String] {
            fields.filter { Redirect.takesAlong($0, toOtherOrigin: isOther, keepsContent: keepsContent) }
        }
        #expect(taken(toOther: false, keeping: true) == fields)
        #expect(taken(toOther: false, keeping: false) == ["Accept", "X-API-Key"])
        #expect(taken(toOther: true, keeping: true) == fields.filter { $0 != "X-API-Key" })
        #expect(taken(toOther: true, keeping: false) == ["Accept"])
    }

    @Test(arguments: [
        (301, "POST", "GET", false), (302, "POST", "GET", false), (303, "POST", "GET", false),
        (303, "PUT", "GET", false), (303, "HEAD", "HEAD", true), (301, "PUT", "PUT", true),
        (302, "HEAD", "HEAD", true), (307, "POST", "POST", true), (308, "POST", "POST", true),
    ])
    func `a 303 becomes a GET, and so does a POST after a 301 or 302`(
        status: Int, method: String, next: String, keepsContent: Bool
    ) {
        let rule = Redirect.next(status: status, method: method)
        #expect(rule?.method == next && rule?.keepsContent == keepsContent)
    }

    @Test(arguments: [200, 300, 304, 305, 306, 404])
    func `any other status is no redirect`(status: Int) {
        let isRedirect = Redirect.next(status: status, method: "GET") != nil
        #expect(!isRedirect)
    }

    @Test func `of a 200 the first four linked dictionaries of its origin are fetched, and never itself`() {
        func target(_ host: String, _ path: String) -> TargetURI {
            TargetURI(isTLS: true, host: host, port: nil, path: path, query: nil)
        }
        let lines = ["/feed", "//b.test", "mailto:a", "/1", "/2", "/3", "/4", "/5"].map {
            "<\($0)>; rel=compression-dictionary"
        }
        func named(status: Int) -> [String] {
            DictionaryLinks.named(by: lines, status: status, of: target("a.test", "/feed")) {
                text -> (location: String, target: TargetURI)? in
                if text.hasPrefix("//") { return (text, target("b.test", "/1")) }
                return text.hasPrefix("/") ? (text, target("a.test", text)) : nil
            }
            .map { $0.location }
        }
        #expect(named(status: 200) == ["/1", "/2", "/3", "/4"])
        #expect(named(status: 404).isEmpty)
    }

    @Test func `a selection has the values of what Vary names and of credentials, and no field of our own`() {
        func digest(_ fields: [String: String]) -> String {
            RequestSelection.digest(
                vary: ["Accept-Encoding, Available-Dictionary", "Accept"], sent: fields.keys
            ) { name in fields.first { $0.key.lowercased() == name }?.value }
        }
        let own = ["Accept-Encoding": "gzip", "Available-Dictionary": ":a:", "Dictionary-ID": "b"]
        #expect(digest(own) == digest([:]))
        #expect(digest(["User-Agent": "a"]) == digest([:]))
        for name in ["Accept", "X-API-Key"] {
            let digests = [digest([:]), digest([name: ""]), digest([name: "a"]), digest([name: "b"])]
            #expect(Set(digests).count == 4, "\(name)")
        }
    }

    private func held(etag: String?) -> CachedDictionary {
        CachedDictionary(
            url: "https://a.test/feed", match: "/feed", matchDest: [], id: "", digest: "", bytes: 1,
            etag: etag,
            storedAt: 0, usableSeconds: 1, expiresAt: 1)
    }
}
