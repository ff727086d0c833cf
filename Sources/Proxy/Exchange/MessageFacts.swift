internal import Dictionaries
internal import HTTP
internal import Primitives

extension RequestFacts {
    /// Reads the facts that decisions need from a request as it was received.
    init(
        _ head: borrowing RequestHead, path: String, query: String?, peer: ClientPeer, route: Route,
        secureTransport: Configuration.SecureTransport
    ) {
        var cacheControl = CacheControl()
        head.headers.forEachValue(of: .cacheControl) { cacheControl.read($0) }
        var hasPersonalField = false
        if route.usesDictionaries {
            head.headers.forEachName(outside: route.impersonalFields) {
                hasPersonalField = hasPersonalField || route.policy.personal.matches(fieldName: $0)
            }
        }
        // A credential that the upstream does not get cannot make its response personal.
        let hides = { (name: HeaderName) in route.requestEdits?.hides(name) == true }
        var hasCookie = false
        head.headers.forEachValue(of: .cookie) {
            hasCookie = hasCookie || route.policy.personal.ignoredCookies.counts($0)
        }
        let method: RequestFacts.MethodClass =
            switch head.method {
            case .get: .get
            case .head: .head
            case .post: .post
            default: .other
            }
        let digest = route.usesDictionaries ? Self.availableDictionary(head.headers) : nil
        self.init(
            method: method, isHTTP10: head.version < .http11,
            availableDictionary: digest,
            dictionaryID: digest == nil ? nil : DictionaryID.parse(head.headers.values(.dictionaryID)),
            secFetchSite: head.headers.joined(.secFetchSite),
            secFetchMode: head.headers.joined(.secFetchMode),
            origin: head.headers.first(.origin), hasRange: head.headers.contains(.range),
            hasAuthorization: head.headers.contains(.authorization) && !hides(.authorization),
            hasCookie: hasCookie && !hides(.cookie),
            hasClientCertificate: peer.tls?.clientSubject != nil,
            hasPersonalField: hasPersonalField,
            hasPersonalQuery: query != nil && route.policy.personal.hasPersonalQuery(query),
            noStore: cacheControl.noStore, noTransform: cacheControl.noTransform,
            isTransportSecure: peer.isTransportSecure(head.headers, setting: secureTransport),
            isPathNormal: head.target.form == .asterisk ? false : NormalPath.isNormal(path),
            dictionarySwitch: route.dictionarySwitch)
        head.headers.forEachValue(of: .acceptEncoding) { acceptEncoding.read($0) }
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
    /// Reads the facts that decisions need from the upstream's response.
    init(_ head: borrowing ResponseHead, framing: BodyFraming, types: MediaTypes) {
        var isEncoded = false
        var coding = UpstreamCoding.none
        head.headers.forEachListMember(of: .contentEncoding) { member in
            isEncoded = true
            coding.add(member)
        }
        var cacheControl = CacheControl()
        head.headers.forEachValue(of: .cacheControl) { cacheControl.read($0) }
        var contentType: String?
        head.headers.forEachValue(of: .contentType) { value in
            if contentType == nil { contentType = types.text(of: value) }
        }
        let length: Int? = if case .length(let count) = framing { Int(count) } else { nil }
        self.init(
            status: Int(head.status.rawValue), contentType: contentType,
            cacheControl: cacheControl,
            varyNames: Vary.names(head.headers.values(.vary)),
            setCookieNames: head.headers.values(.setCookie).map {
                String($0.prefix { $0 != "=" && $0 != ";" })
            },
            accessControlAllowOrigin: head.headers.first(.accessControlAllowOrigin),
            bodyBytes: isEncoded ? nil : length, hasContentRange: head.headers.contains(.contentRange),
            hasUseAsDictionary: head.headers.contains(.useAsDictionary)
                || head.headers.contains(.link)
                    && !LinkField.dictionaryTargets(head.headers.values(.link)).isEmpty
        )
        self.coding = coding
    }
}
