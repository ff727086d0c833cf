package import Dictionaries
package import HTTP

extension RequestFacts {
    /// Reads the facts that decisions need from a request as it was received.
    ///
    /// Into facts that are empty, because an initialiser outside the type's module would end with a copy.
    mutating func read(
        _ head: borrowing RequestHead, url: PathAndQuery, isPathNormal: Bool, peer: ClientPeer, route: Route,
        secureTransport: Configuration.SecureTransport
    ) {
        // The policy by its reference: a copy of its settings would be counted for each request.
        let policy = route.policy
        method =
            switch head.method {
            case .get: .get
            case .head: .head
            case .query: .query
            case .post: .post
            default: .other
            }
        isHTTP10 = head.version < .http11
        self.isPathNormal = isPathNormal
        isTransportSecure = peer.isTransportSecure(head.headers, setting: secureTransport)
        dictionarySwitch = route.dictionarySwitch
        // Closures get variables of their own: a value that they capture before it is whole would be copied.
        var accepted = acceptEncoding
        head.headers.forEachValue(of: .acceptEncoding) { accepted.read($0) }
        acceptEncoding = accepted
        secFetchSite = head.headers.joined(.secFetchSite).map(SecFetchSite.init)
        secFetchMode = head.headers.joined(.secFetchMode).map(SecFetchMode.init)
        if let sent = head.headers.first(.origin) { origin = sent }
        hasRange = head.headers.contains(.range)
        isConditional = head.headers.contains(.ifNoneMatch) || head.headers.contains(.ifModifiedSince)
        var cacheControl = CacheControl()
        head.headers.forEachValue(of: .cacheControl) { cacheControl.read($0) }
        noStore = cacheControl.noStore
        noTransform = cacheControl.noTransform
        // A credential that the upstream does not get cannot make its response personal.
        let hides = { (name: HeaderName) in route.requestEdits?.hides(name) == true }
        hasAuthorization = head.headers.contains(.authorization) && !hides(.authorization)
        var isCookie = false
        head.headers.forEachValue(of: .cookie) {
            isCookie = isCookie || policy.personal.ignoredCookies.counts($0)
        }
        hasCookie = isCookie && !hides(.cookie)
        hasClientCertificate = peer.tls?.clientSubject != nil
        hasPersonalQuery = url.query != nil && policy.personal.hasPersonalQuery(url.query)
        guard route.usesDictionaries else { return }
        var isPersonal = false
        head.headers.forEachName(outside: route.impersonalFields) {
            isPersonal = isPersonal || policy.personal.matches(fieldName: $0)
        }
        hasPersonalField = isPersonal
        availableDictionary = Self.availableDictionary(head.headers)
        if availableDictionary != nil || route.decodesRequests && head.headers.contains(.contentEncoding) {
            dictionaryID = DictionaryID.parse(head.headers.values(.dictionaryID))
        }
    }

    /// Returns the digest that the client offers; nil unless there is exactly one line.
    private static func availableDictionary(_ headers: borrowing Headers) -> Digest? {
        guard headers.count(of: .availableDictionary) == 1 else { return nil }
        var digest: Digest?
        headers.forEachValue(of: .availableDictionary) { digest = AvailableDictionary.parse($0) }
        return digest
    }
}

extension ResponseFacts {
    /// Reads the facts that decisions need from the upstream's response, into facts that are empty.
    package mutating func read(_ head: borrowing ResponseHead, framing: BodyFraming, types: MediaTypes) {
        status = Int(head.status.rawValue)
        var (type, control) = (String?.none, CacheControl())
        head.headers.forEachValue(of: .contentType) { value in
            if type == nil { type = types.text(of: value) }
        }
        contentType = type
        if head.headers.contains(.contentEncoding) {
            coding = UpstreamCoding(contentEncoding: head.headers.values(.contentEncoding))
        }
        if case .length(let count) = framing, coding == .none { bodyBytes = Int(count) }
        head.headers.forEachValue(of: .cacheControl) { control.read($0) }
        (cacheControl, sentCacheControl) = (control, control)
        varyNames = Vary.names(head.headers.values(.vary))
        setCookieNames = head.headers.values(.setCookie).map { String($0.prefix { $0 != "=" && $0 != ";" }) }
        if let allowed = head.headers.first(.accessControlAllowOrigin) { accessControlAllowOrigin = allowed }
        hasContentRange = head.headers.contains(.contentRange)
        hasUseAsDictionary =
            head.headers.contains(.useAsDictionary)
            || head.headers.contains(.link)
                && !LinkField.dictionaryTargets(head.headers.values(.link)).isEmpty
    }
}
