internal import Dictionaries
internal import HTTP

extension RequestFacts {
    /// What the decisions need to know of a request as it was received.
    init(
        _ head: RequestHead, path: String, query: String?, peer: ClientPeer, route: Route,
        secureTransport: Configuration.SecureTransport
    ) {
        let headers = head.headers
        let cacheControl = CacheControl(headers.values(.cacheControl))
        let personal = route.policy.personal
        var hasPersonalField = false
        if route.usesDictionaries {
            headers.forEachName { hasPersonalField = hasPersonalField || personal.matches(fieldName: $0) }
        }
        let method: Method =
            switch head.method {
            case .get: .get
            case .head: .head
            case .post: .post
            default: .other
            }
        self.init(
            method: method, isHTTP10: head.version < .http11, acceptEncoding: headers.values(.acceptEncoding),
            availableDictionary: route.usesDictionaries
                ? AvailableDictionary.parse(headers.values(.availableDictionary)) : nil,
            secFetchSite: headers.first(.secFetchSite), secFetchMode: headers.first(.secFetchMode),
            origin: headers.first(.origin), hasRange: headers.contains(.range),
            hasAuthorization: headers.contains(.authorization), hasCookie: headers.contains(.cookie),
            hasClientCertificate: peer.tls?.clientSubject != nil,
            hasPersonalField: hasPersonalField, hasPersonalQuery: personal.hasPersonalQuery(query),
            noStore: cacheControl.noStore, noTransform: cacheControl.noTransform,
            isTransportSecure: peer.isTransportSecure(headers, setting: secureTransport),
            isPathNormal: head.target.form == .asterisk ? false : NormalPath.isNormal(path),
            dictionarySwitch: route.dictionarySwitch)
    }
}

extension ResponseFacts {
    /// What the decisions need to know of the upstream's answer.
    init(_ head: ResponseHead, framing: BodyFraming) {
        let headers = head.headers
        var encodings: [String] = []
        headers.forEachListMember(of: .contentEncoding) { encodings.append(String($0).lowercased()) }
        let length: Int? = if case .length(let count) = framing { Int(count) } else { nil }
        self.init(
            status: Int(head.status.rawValue), contentType: headers.first(.contentType),
            contentEncodings: encodings, cacheControl: CacheControl(headers.values(.cacheControl)),
            varyNames: Vary.names(headers.values(.vary)),
            setCookieNames: headers.values(.setCookie).map { String($0.prefix { $0 != "=" && $0 != ";" }) },
            accessControlAllowOrigin: headers.first(.accessControlAllowOrigin),
            bodyBytes: encodings.isEmpty ? length : nil, hasContentRange: headers.contains(.contentRange),
            hasUseAsDictionary: headers.contains(.useAsDictionary)
                || headers.contains(.link)
                    && !LinkField.dictionaryTargets(headers.values(.link)).isEmpty
        )
    }
}
