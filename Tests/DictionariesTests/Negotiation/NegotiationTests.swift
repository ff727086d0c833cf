internal import Dictionaries
internal import Testing

struct NegotiationTests {
    @Test func `the plainest exchange gets a delta`() {
        #expect(Facts.decide() == Decision(coding: .dcz, reason: .delta))
    }

    /// A known mistake of other servers: the wildcard taken for dcb and dcz, weights ignored.
    @Test(
        arguments: [
            ("*", .zstd, .codingNotAccepted), ("gzip", .gzip, .codingNotAccepted),
            ("dcz;q=0, dcb;q=0, br", .br, .codingNotAccepted),
            ("DCZ, gzip", .dcz, .delta), ("", .identity, .codingNotAccepted),
            ("dcb, gzip", .dcb, .delta),
            ("dcz;q=0.5, dcb", .dcb, .delta), ("dcb;q=0.5, dcz", .dcz, .delta),
            ("dcz;q=0.5, zstd", .zstd, .otherCodingPreferred),
            ("dcz;q=0.5, gzip;q=0.5", .dcz, .delta), ("dcz;q=0.001", .dcz, .delta),
            ("*;q=0, dcz", .dcz, .delta),
            ("identity, dcz;q=0.9", .identity, .otherCodingPreferred), ("identity, dcz", .dcz, .delta),
            ("gzip, br, zstd", .zstd, .codingNotAccepted), ("gzip, br;q=0.9", .gzip, .codingNotAccepted),
            ("identity;q=0.5, gzip;q=0.4", .identity, .codingNotAccepted),
            ("x-gzip", .gzip, .codingNotAccepted),
            ("dcz , gzip;q=1.001", .dcz, .delta),
        ] as [(String, ContentCoding, Reason)])
    func `the highest weight wins, then the server's order`(
        accept: String, coding: ContentCoding, reason: Reason
    ) {
        #expect(Facts.decide(Facts.request(accept: accept)) == Decision(coding: coding, reason: reason))
    }

    @Test(arguments: ["identity;q=0", "*;q=0", "deflate, *;q=0", "identity;q=0, compress"])
    func `where nothing fits identity is sent, even if it is refused`(accept: String) {
        let decision = Facts.decide(Facts.request(accept: accept), .noneOffered)
        #expect(decision == Decision(coding: .identity, reason: .noCodingAccepted))
    }

    @Test func `codings that the server does not list are not used`() {
        #expect(Facts.decide(preference: [.dcb, .gzip]) == Decision(coding: .dcb, reason: .delta))
        #expect(
            Facts.decide(preference: [.zstd, .gzip]) == Decision(coding: .zstd, reason: .codingNotAccepted))
        #expect(Facts.decide(preference: []) == Decision(coding: .identity, reason: .codingNotAccepted))
        #expect(
            Facts.decide(preference: [.gzip, .dcz]) == Decision(coding: .gzip, reason: .otherCodingPreferred))
    }

    @Test func `over a built dictionary dcb comes before dcz, with a reason of its own`() {
        #expect(Facts.decide(.built) == Decision(coding: .dcb, reason: .deltaBuilt))
        #expect(
            Facts.decide(Facts.request(accept: "gzip, dcz"), .built)
                == Decision(coding: .dcz, reason: .deltaBuilt))
        #expect(
            Facts.decide(Facts.request(accept: "gzip"), .built)
                == Decision(coding: .gzip, reason: .codingNotAccepted))
    }

    @Test(
        arguments: [
            (.noneOffered, .clientNew), (.unknown, .dictionaryUnknown), (.cold, .dictionaryCold),
        ] as [(DictionaryLookUp, Reason)])
    func `without a dictionary at hand the best plain coding is used`(
        dictionary: DictionaryLookUp, reason: Reason
    ) {
        #expect(Facts.decide(dictionary) == Decision(coding: .zstd, reason: reason))
    }

    @Test(
        arguments: [
            ("gzip, deflate, br, zstd", false, .clientNew),
            ("gzip, deflate, br, zstd", true, .dictionaryNotKept),
            ("*, dcz;q=0", false, .clientNew), ("gzip, zstd, dcb", false, .clientNew),
            ("gzip, zstd, dcz;q=0.1", true, .dictionaryNotKept),
        ] as [(String, Bool, Reason)])
    func
        `a request without a dictionary tells whether its client keeps responses, and not whether it supports them`(
            accept: String, isConditional: Bool, reason: Reason
        )
    {
        let request = Facts.request(accept: accept) {
            ($0.availableDictionary, $0.isConditional) = (nil, isConditional)
        }
        #expect(Facts.decide(request, .noneOffered).reason == reason)
    }

    /// The reasons that forbid a dictionary leave a plain coding.
    @Test(
        arguments: [
            Change(.switchedOff) { $0.route.areDictionariesOn = false },
            Change(.routeOff) { $0.route.hasDictionary = false },
            Change(.pathNotNormal) { $0.request.isPathNormal = false },
            Change(.insecureTransport) { $0.request.isTransportSecure = false },
            Change(.crossOrigin) {
                ($0.request.secFetchSite, $0.request.secFetchMode) = (.other, .other)
            },
            Change(.personal) { ($0.request.hasCookie, $0.route.personalUse) = (true, .off) },
            Change(.personal) { ($0.response.cacheControl.isPrivate, $0.route.personalUse) = (true, .off) },
            Change(.crossOrigin) { ($0.request.hasCookie, $0.request.secFetchSite) = (true, .other) },
            Change(.identityIncomplete) { $0.route.scope = .private },
        ] as [Change])
    func `what forbids a dictionary leaves a plain coding`(change: Change) {
        let exchange = Exchange(change)
        let decision = Facts.decide(exchange.request, exchange.response, exchange.route.policy)
        #expect(decision == Decision(coding: .zstd, reason: change.reason))
    }

    @Test func `a personal response is coded over a dictionary for pages of its own origin`() {
        for site in [nil, SecFetchSite.sameOrigin, .some(.none)] {
            let request = Facts.request { ($0.hasCookie, $0.secFetchSite) = (true, site) }
            #expect(Facts.decide(request) == Decision(coding: .dcz, reason: .delta))
        }
    }

    /// A known mistake of other servers: coding a partial, bodiless, fixed or foreign response.
    @Test(
        arguments: [
            Change(.ineligibleStatus) { $0.response.status = 206 },
            Change(.ineligibleStatus) { $0.response.status = 204 },
            Change(.ineligibleStatus) { $0.response.status = 304 },
            Change(.ineligibleStatus) { $0.response.status = 404 },
            Change(.range) { $0.request.hasRange = true },
            Change(.range) { $0.response.hasContentRange = true },
            Change(.ineligibleMethod) { $0.request.method = .other },
            Change(.noTransform) { $0.request.noTransform = true },
            Change(.noTransform) { $0.response.cacheControl.noTransform = true },
            Change(.ineligibleType) { $0.response.contentType = "image/png" },
            Change(.ineligibleType) { $0.response.contentType = nil },
            Change(.eventStream) { $0.response.contentType = "text/event-stream; charset=utf-8" },
            Change(.ineligibleSize) { $0.response.bodyBytes = 255 },
            Change(.ineligibleSize) { $0.response.bodyBytes = 0 },
            Change(.ineligibleSize) { ($0.response.bodyBytes, $0.route.bodyBytesMin) = (0, 0) },
            Change(.http10) { $0.request.isHTTP10 = true },
        ] as [Change])
    func `what must not be coded goes as it is`(change: Change) {
        let exchange = Exchange(change)
        let decision = Facts.decide(exchange.request, exchange.response, exchange.route.policy)
        #expect(decision == Decision(coding: .identity, reason: change.reason))
    }

    @Test(arguments: [RequestFacts.MethodClass.get, .head, .query, .post])
    func `GET, QUERY, POST and HEAD are answered alike`(method: RequestFacts.MethodClass) {
        #expect(Facts.decide(Facts.request { $0.method = method }).coding == .dcz)
    }

    /// A stream of the same length and another type is in dcb.
    @Test(
        arguments: [
            ("zstd", .noneOffered, .zstd), ("dcz, dcb", .found(prefersDcb: false), .dcz),
            ("dcz;q=0.5, dcb", .found(prefersDcb: false), .dcb), ("dcb", .found(prefersDcb: false), .dcb),
            ("dcz, dcb", .found(prefersDcb: true), .dcb), ("dcz, dcb", .built, .dcz),
        ] as [(String, DictionaryLookUp, ContentCoding)])
    func `an event stream that is listed by name is coded, in dcz rather than in dcb`(
        accept: String, dictionary: DictionaryLookUp, coding: ContentCoding
    ) {
        let response = Facts.response { ($0.contentType, $0.bodyBytes) = ("text/event-stream", nil) }
        let route = Facts.route { $0.types = MediaTypes(["text/event-stream"]) }
        #expect(Facts.decide(Facts.request(accept: accept), response, route, dictionary).coding == coding)
    }

    @Test func `the shortest body that is coded is exactly min_size long, an unknown length will do`() {
        #expect(Facts.decide(Facts.request(), Facts.response { $0.bodyBytes = 256 }).coding == .dcz)
        #expect(
            Facts.decide(Facts.request(accept: "dcz"), Facts.response { $0.bodyBytes = nil }).coding == .dcz)
    }

    @Test func `HTTP 1.0 gets a coding only where the body is whole`() {
        let request = Facts.request { $0.isHTTP10 = true }
        #expect(Facts.decide(request, Facts.response { $0.isBodyWhole = true }).reason == .delta)
        #expect(Facts.decide(request, Facts.response { $0.bodyBytes = nil }).reason == .http10)
    }

    /// The window of dcz, and the dictionaries that Firefox takes for formatted ones.
    @Test(
        arguments: [
            ("dcz, dcb", 8 << 20, false, .dcz), ("dcz, dcb", 8 << 20 + 1, false, .dcb),
            ("dcz, dcb", nil, false, .dcb), ("dcz", nil, false, .dcz),
            ("dcz", 8 << 20 + 1, false, .dcz), ("dcz, dcb", 10_000, true, .dcb), ("dcz", 10_000, true, .dcz),
            ("dcz, dcb;q=0", 10_000, true, .dcz), ("dcz, dcb;q=0.1", nil, false, .dcz),
            ("dcz, dcb;q=0.1, gzip;q=0.5", 10_000, true, .dcz), ("dcb", 10_000, false, .dcb),
        ] as [(String, Int?, Bool, ContentCoding)])
    func `dcb takes the place of dcz for large bodies and dictionaries with the magic number`(
        accept: String, bodyBytes: Int?, hasMagic: Bool, coding: ContentCoding
    ) {
        let decision = Facts.decide(
            Facts.request(accept: accept), Facts.response { $0.bodyBytes = bodyBytes }, Facts.route(),
            .found(prefersDcb: hasMagic))
        #expect(decision == Decision(coding: coding, reason: .delta))
    }

    @Test(
        arguments: [
            ("br, zstd", ["br"], .br, .codingNotAccepted, .passThrough),
            ("br;q=0.1, zstd", ["br"], .br, .codingNotAccepted, .passThrough),
            ("zstd", ["br"], .zstd, .codingNotAccepted, .decode),
            ("deflate", ["gzip"], .identity, .codingNotAccepted, .decode),
            ("gzip", ["x-gzip"], .gzip, .codingNotAccepted, .passThrough),
            ("gzip", ["identity", "gzip"], .gzip, .codingNotAccepted, .passThrough),
            ("br, dcz", ["br"], .dcz, .delta, .decode),
            ("br, dcz;q=0.5", ["br"], .br, .otherCodingPreferred, .passThrough),
            ("br, dcz", ["gzip", "br"], .identity, .codedUpstream, .passThrough),
            ("br, dcz", ["deflate"], .identity, .codedUpstream, .passThrough),
            ("dcz", ["dcz"], .identity, .codedUpstream, .passThrough),
            ("br, dcz", ["identity"], .dcz, .delta, .none),
            ("*", ["gzip"], .gzip, .codingNotAccepted, .passThrough),
            ("*", ["Identity", "X-GZIP"], .gzip, .codingNotAccepted, .passThrough),
            ("*, gzip;q=0", ["gzip"], .zstd, .codingNotAccepted, .decode),
        ] as [(String, [String], ContentCoding, Reason, Decision.UpstreamHandling)])
    func `the upstream's coding stays where the client accepts it and no dictionary is used`(
        accept: String, encodings: [String], coding: ContentCoding, reason: Reason,
        handling: Decision.UpstreamHandling
    ) {
        let response = Facts.response {
            ($0.coding, $0.bodyBytes) = (UpstreamCoding(contentEncoding: encodings), nil)
        }
        let decision = Facts.decide(Facts.request(accept: accept), response)
        #expect(decision == Decision(coding: coding, reason: reason, upstreamCodingHandling: handling))
    }

    @Test(
        arguments: [
            (Change { $0.request.isHTTP10 = true }, .decode),
            (Change { $0.response.contentType = "image/png" }, .passThrough),
            (Change { $0.response.status = 404 }, .passThrough),
            (Change { $0.response.cacheControl.noTransform = true }, .passThrough),
            (Change { $0.request.hasRange = true }, .passThrough),
        ] as [(Change, Decision.UpstreamHandling)])
    func `a coding that the client does not accept is undone only where the answer may be changed`(
        change: Change, handling: Decision.UpstreamHandling
    ) {
        var exchange = Exchange(change)
        exchange.request.acceptEncoding = AcceptEncoding(["br"])
        exchange.response.coding = .known(.gzip)
        let decision = Facts.decide(exchange.request, exchange.response)
        #expect(decision.upstreamCodingHandling == handling)
        #expect(decision.coding == (handling == .decode ? .identity : .gzip))
    }

    @Test func `each reason has a text of its own in kebab case`() {
        let texts = Reason.allCases.map(\.text)
        #expect(Set(texts).count == texts.count)
        for text in texts {
            #expect(
                text.utf8.allSatisfy { "abcdefghijklmnopqrstuvwxyz-0123456789".utf8.contains($0) }, "\(text)")
        }
    }

}

extension Facts {
    fileprivate static func decide(_ request: RequestFacts, _ dictionary: DictionaryLookUp) -> Decision {
        decide(request, response(), route(), dictionary)
    }

    fileprivate static func decide(_ dictionary: DictionaryLookUp) -> Decision {
        decide(request(), response(), route(), dictionary)
    }
}
