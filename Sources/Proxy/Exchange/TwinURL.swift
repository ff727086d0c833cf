internal import Dictionaries
internal import HTTP
internal import Primitives
internal import Storage

/// The second URL of a resource: `/.dictum/own` and its path and query.
///
/// A browser keeps a response as a dictionary only while it is fresh, and few responses to one user are. The response of a
/// twin URL is that of the resource itself, with a life of its own; nobody but its user gets it.
enum TwinURL {
    static let prefix = DictionaryPath.twinPrefix

    /// Returns the request for the resource behind a twin URL; nil for any other URL.
    ///
    /// The response must be whole, so the client's own conditions go.
    static func request(behind head: RequestHead) -> RequestHead? {
        let (text, prefix) = (head.target.bytes, prefix.utf8)
        guard head.method == .get, head.target.form == .origin, text.starts(with: prefix),
            let target = try? RequestTarget(Array(text[prefix.count...]).span, method: .get),
            target.form == .origin
        else { return nil }
        var inner = head
        inner.target = target
        inner.headers.removeAll(Revalidation.ownQuestions)
        return inner
    }

    /// Returns true if a request may have the response of a resource's twin URL: one that a script of the same origin makes
    /// where dictionaries may be offered.
    ///
    /// A browser that shows the twin URL as a page, or runs it as a script, would do so under another path than the site
    /// knows.
    static func admits(_ request: RequestHead, _ facts: RequestFacts, route: Route) -> Bool {
        route.usesDictionaries && facts.isPathNormal && facts.isTransportSecure
            && CrossOrigin.allowsPrivateDictionary(request: facts)
            && request.headers.joined(.secFetchDest).map { $0 == "empty" } ?? true
    }

    /// Makes the head of the resource's response that of its twin URL.
    ///
    /// One that offers nothing is not kept. One that does is kept by its user's browser alone, and has no validators, since
    /// a 304 would renew the life of an old body. `Set-Cookie` passes: an upstream may have replaced the session, and browsers
    /// keep no cookies with a cached response.
    static func shape(_ headers: inout Headers, isOffered: Bool, lifeSeconds: Int) {
        headers.removeAll(ofTheLife)
        headers.append(.cacheControl, isOffered ? "private, max-age=\(lifeSeconds)" : "no-store")
        // For caches that keep what says `private`.
        ResponseEdits.forbidSharedCaches(&headers)
        let vary = Vary.merged(headers.values(.vary), adding: ["Cookie", "Authorization"])
        headers.replace(.vary, with: vary)
    }

    private static let ofTheLife: HeaderNameSet = [
        .age, .cacheControl, .etag, .expires, .lastModified, .pragma,
    ]
}

extension UseAsDictionary {
    /// Returns the offer as a twin URL carries it: the dictionary is for the next response of the twin URL, too.
    var atTwinURL: UseAsDictionary? {
        UseAsDictionary(match: "{\(TwinURL.prefix)}?" + match, matchDest: matchDest, id: id, ttl: ttl)
    }

    /// Returns the offer as a URL of Dictum's own carries it.
    ///
    /// Responses of an API offer themselves under the same match. RFC 9842 section 2.2.3 prefers a matching match-dest, so the
    /// empty destination of `fetch()` keeps such an offer, with its shorter life, from replacing this dictionary.
    func outranking(_ contentType: String?) -> UseAsDictionary? {
        guard matchDest.isEmpty, !MediaTypes.isDocument(contentType) else { return self }
        return UseAsDictionary(match: match, matchDest: [""], id: id, ttl: ttl)
    }
}

/// The script `/.dictum/own.js`, by which a page has its browser fetch the twin URLs of paths.
enum OwnScript {
    private static let path = TwinURL.prefix + ".js"
    private static let bytes = PackageResources.own_js
    private static let tag = ETagForm.made(of: Digest(of: bytes.span))

    /// The same for everybody, so that every cache may keep it.
    private static let headers: Headers = {
        var headers = Headers()
        headers.append(.contentType, "text/javascript; charset=utf-8")
        headers.append(.cacheControl, "public, max-age=86400")
        headers.append(.etag, tag)
        headers.append(.xContentTypeOptions, "nosniff")
        headers.append(.crossOriginResourcePolicy, "same-origin")
        return headers
    }()

    static func isAsked(_ request: RequestHead) -> Bool {
        (request.method == .get || request.method == .head) && request.target.path == path
    }

    static func response(to request: RequestHead) -> (head: ResponseHead, body: [UInt8]) {
        let tags = request.headers.values(.ifNoneMatch)
        let isHeld = ETagForm.isNotModified(ifNoneMatch: tags, etag: EntityTag(tag))
        return (ResponseHead(status: isHeld ? .notModified : .ok, headers: headers), isHeld ? [] : bytes)
    }
}

extension Exchange {
    /// Gives a response the life of its twin URL, if it offers its body.
    func shapeTwin(_ response: inout UpstreamResponse) {
        let headers = response.head.headers
        TwinURL.shape(
            &response.head.headers,
            isOffered: headers.contains(.useAsDictionary) && !response.facts.hasUseAsDictionary,
            lifeSeconds: route.dictionary?.ownLifeSeconds ?? 0)
    }

    /// Notes that the deltas of a client have become long, and that no response of the path itself can bring it another
    /// dictionary.
    func noteTwinDue(_ response: UpstreamResponse, deltaBytes: Int?) {
        guard let deltaBytes, !isTwin, facts.method == .get, let version = dictionary.version,
            !version.isPinned(at: SystemClock.unixSeconds), unkeptReason(response) != nil
        else { return }
        isTwinDue = isRenewed(response, deltaBytes: deltaBytes)
    }
}
