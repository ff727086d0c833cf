internal import Dictionaries
internal import Testing

/// The rules of admission and offers; see the article Rules.
struct AdmissionTests {
    static func obstacle(_ change: Change) -> Reason? {
        let exchange = Exchange(change)
        return Admission.obstacle(
            request: exchange.request, response: exchange.response, policy: exchange.route.policy)
    }

    static func offer(_ change: Change) -> Reason? {
        let exchange = Exchange(change)
        return Offer.obstacle(
            request: exchange.request, response: exchange.response, policy: exchange.route.policy)
    }

    @Test(
        arguments: [
            Change(.switchedOff) { $0.route.areDictionariesOn = false },
            Change(.routeOff) { $0.route.hasDictionary = false },
            Change(.ineligibleMethod) { $0.request.method = .post },
            Change(.ineligibleMethod) { $0.request.method = .head },
            Change(.ineligibleMethod) { $0.route.methods = [.query, .post] },
            Change(.notFresh) { $0.request.method = .query },
            Change(.notFresh) { ($0.request.method, $0.route.methods) = (.post, [.post]) },
            Change(.contentLocation) {
                ($0.request.method, $0.route.methods) = (.post, [.post])
                ($0.response.isExplicitlyFresh, $0.response.contentLocation) = (true, .other)
            },
            Change(.ineligibleStatus) { $0.response.status = 201 },
            Change(.ineligibleStatus) { $0.response.status = 206 },
            Change(.ineligibleStatus) { $0.response.status = 301 },
            Change(.ineligibleStatus) { $0.response.status = 500 },
            Change(.range) { $0.response.hasContentRange = true },
            Change(.pathNotNormal) { $0.request.isPathNormal = false },
            Change(.noStore) { $0.request.noStore = true },
            Change(.noStore) { $0.response.cacheControl.noStore = true },
            Change(.noStore) { ($0.request.noStore, $0.route.storesDespiteNoStore) = (true, true) },
            Change(.personal) { ($0.response.setCookieNames, $0.route.personalUse) = (["sid"], .off) },
            Change(.varyAny) { $0.response.varyNames = ["origin", "*"] },
            Change(.codedUpstream) { $0.response.coding = UpstreamCoding(contentEncoding: ["deflate"]) },
            Change(.codedUpstream) {
                $0.response.coding = UpstreamCoding(contentEncoding: ["gzip", "gzip"])
            },
            Change(.codedUpstream) { $0.response.coding = UpstreamCoding(contentEncoding: ["dcb"]) },
            Change(.eventStream) {
                ($0.response.contentType, $0.route.types) = (
                    "text/event-stream", MediaTypes(["text/event-stream"])
                )
            },
            Change(.ineligibleType) { $0.response.contentType = "image/png" },
            Change(.ineligibleType) { $0.response.contentType = nil },
            Change(.ineligibleSize) { $0.response.bodyBytes = 255 },
            Change(.ineligibleSize) { $0.response.bodyBytes = 8 << 20 + 1 },
            Change(.ineligibleSize) { ($0.response.bodyBytes, $0.route.bodyBytesMin) = (0, 0) },
            Change(.personal) { ($0.request.hasAuthorization, $0.route.personalUse) = (true, .off) },
            Change(.personal) { ($0.response.cacheControl.isPrivate, $0.route.personalUse) = (true, .off) },
            Change(.identityIncomplete) { $0.route.scope = .private },
        ] as [Change])
    func `what must not be kept is neither admitted nor offered`(change: Change) {
        #expect(Self.obstacle(change) == change.reason)
        #expect(Self.offer(change) == change.reason)
    }

    @Test(
        arguments: [
            Change { _ = $0 }, Change { $0.response.bodyBytes = 256 },
            // The result of a QUERY may have a URL of its own.
            Change {
                ($0.request.method, $0.response.isExplicitlyFresh, $0.response.contentLocation) = (
                    .query, true, .other
                )
            },
            Change {
                ($0.request.method, $0.route.methods) = (.post, [.post])
                ($0.response.isExplicitlyFresh, $0.response.contentLocation) = (true, .target)
            },
            Change { $0.response.bodyBytes = 8 << 20 },
            Change { $0.response.bodyBytes = nil },
            Change { $0.response.coding = UpstreamCoding(contentEncoding: ["gzip"]) },
            Change { $0.response.coding = UpstreamCoding(contentEncoding: ["identity", "br"]) },
            Change { $0.response.cacheControl.noTransform = true },
            Change { ($0.response.cacheControl.noStore, $0.route.storesDespiteNoStore) = (true, true) },
            Change { $0.response.varyNames = ["accept-encoding", "accept-language"] },
            Change { ($0.response.setCookieNames, $0.route.ignoredSetCookies) = (["lb"], ["lb"]) },
            Change { ($0.request.hasAuthorization, $0.response.cacheControl.isPublic) = (true, true) },
            Change { $0.request.hasAuthorization = true },
            Change { $0.response.cacheControl.isPrivate = true },
            Change { $0.response.setCookieNames = ["sid"] },
            Change {
                $0.request.hasWholeIdentity = true
                $0.response.cacheControl.isPrivate = true
                $0.route.scope = .private
            },
        ] as [Change])
    func `a whole answer is admitted and offered`(change: Change) {
        #expect(Self.obstacle(change) == nil)
        #expect(Self.offer(change) == nil)
    }

    @Test(
        arguments: [
            ([], .none), (["/q"], .target), (["http://a.test/q"], .target), (["https://a.test/q"], .target),
            (["/q", "https://a.test/q"], .target), (["/q", "/r"], .other), (["https://b.test/q"], .other),
            (["q"], .other), (["/q?x"], .other), ([""], .other),
        ] as [([String], ContentLocation)])
    func `a Content-Location names the target only if each of its lines does`(
        lines: [String], location: ContentLocation
    ) {
        #expect(ContentLocation(lines, url: "/q", authority: "a.test") == location)
    }

    @Test(
        arguments: [
            Change(.insecureTransport) { $0.request.isTransportSecure = false },
            Change(.crossOrigin) {
                ($0.request.secFetchSite, $0.request.secFetchMode) = (.other, .other)
            },
            Change(.offeredUpstream) { $0.response.hasUseAsDictionary = true },
        ] as [Change])
    func `some answers are kept but not offered to this client`(change: Change) {
        #expect(Self.obstacle(change) == nil)
        #expect(Self.offer(change) == change.reason)
    }
}
