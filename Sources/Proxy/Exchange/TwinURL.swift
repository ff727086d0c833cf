internal import Dictionaries
internal import HTTP
internal import Primitives
internal import Storage

/// The second URL of a resource: its own, with the parameter `dictum-own` at the end of the query.
///
/// A browser keeps a response as a dictionary only while it is fresh, and few responses to one user are. The response of a
/// twin URL is that of the resource itself, with a life of its own; nobody but its user gets it. Its path is that of the
/// resource, so that rules of a server in front, which go by the path, hold for both.
enum TwinURL {
    /// Makes a request for a twin URL the one for the resource; returns false for any other URL.
    ///
    /// The response must be whole, so the client's own conditions go.
    static func resolve(_ head: inout RequestHead) -> Bool {
        guard let target = head.target.without(lastParameter: DictionaryPath.twinMarker) else { return false }
        head.target = target
        head.headers.removeAll(Revalidation.ownQuestions)
        return true
    }

    /// Returns true if a request may have the response of a resource's twin URL: one that a script of the same origin makes
    /// where dictionaries may be offered.
    ///
    /// A browser must not show the twin URL as a page, or run it as a script: its response may be a day old.
    static func admits(_ request: RequestHead, _ facts: RequestFacts, route: Route) -> Bool {
        request.method == .get && request.target.form == .origin
            && request.target.without(lastParameter: DictionaryPath.twinMarker) == nil
            && route.usesDictionaries && facts.isPathNormal && facts.isTransportSecure
            && CrossOrigin.allowsDictionaryOfOneUser(request: facts)
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

    /// With No-Vary-Search the response would live under the URL of the resource, too.
    private static let ofTheLife = HeaderNameSet([
        .age, .cacheControl, .etag, .expires, .lastModified, .pragma,
    ]).adding(["No-Vary-Search"])
}

extension UseAsDictionary {
    /// Returns the offer as the twin URL of a resource carries it: the dictionary is for the next response of the twin URL, too.
    ///
    /// Its match is longer than that of the resource itself, so that no offer of that, which has a shorter life, replaces it
    /// or comes before it (RFC 9842 section 2.2.3).
    func atTwinURL(of url: PathAndQuery) -> UseAsDictionary? {
        let end: String
        if URLPattern.namesQuery(match) {
            end = "{\(url.query?.isEmpty == false ? "&" : "")\(DictionaryPath.twinMarker)}?"
        } else {
            // Behind a group a bare question mark would make it optional.
            end = URLPattern.escaped(match) == match ? "?*" : "\\?*"
        }
        return UseAsDictionary(match: match + end, matchDest: matchDest, id: id, ttl: ttl)
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
        (request.method == .get || request.method == .head) && request.target.path == DictionaryPath.ownScript
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
