/// The facts about a request that the decisions depend on.
package struct RequestFacts: Sendable {
    /// The methods that the decisions distinguish.
    package enum MethodClass: Sendable { case get, head, post, other }

    package var method: MethodClass
    /// True if the request is HTTP/1.0.
    package var isHTTP10: Bool
    /// The codings that the client accepts.
    package var acceptEncoding: AcceptEncoding
    /// The one valid digest that the client advertises.
    package var availableDictionary: Digest?
    /// The one valid Dictionary-ID next to a digest.
    package var dictionaryID: String?
    package var secFetchSite: SecFetchSite?
    package var secFetchMode: SecFetchMode?
    /// Origin, as sent.
    package var origin: String?
    package var hasRange: Bool
    package var hasAuthorization: Bool
    /// True if the request has a cookie that the setting `ignore_cookies` does not name.
    package var hasCookie: Bool
    package var hasClientCertificate: Bool
    package var hasPersonalField: Bool
    package var hasPersonalQuery: Bool
    /// True if the request says `no-store`.
    package var noStore: Bool
    /// True if the request says `no-transform`.
    package var noTransform: Bool
    /// True if the client's transport counts as secure under the setting `secure_transport`.
    package var isTransportSecure: Bool
    package var isPathNormal: Bool
    /// True on a private route if the identity is complete and covers Cookie and Authorization.
    package var hasWholeIdentity: Bool
    /// The reason why no dictionary may be used or offered for now, whatever the request; nil if there is none.
    package var dictionarySwitch: Reason?

    /// Makes the facts of a GET without any of these fields, except for the given ones.
    package init(
        method: MethodClass = .get, isHTTP10: Bool = false, acceptEncoding: [String] = [],
        availableDictionary: Digest? = nil, dictionaryID: String? = nil, secFetchSite: String? = nil,
        secFetchMode: String? = nil,
        origin: String? = nil, hasRange: Bool = false, hasAuthorization: Bool = false,
        hasCookie: Bool = false,
        hasClientCertificate: Bool = false, hasPersonalField: Bool = false, hasPersonalQuery: Bool = false,
        noStore: Bool = false, noTransform: Bool = false, isTransportSecure: Bool = true,
        isPathNormal: Bool = true, hasWholeIdentity: Bool = false, dictionarySwitch: Reason? = nil
    ) {
        self.method = method
        self.isHTTP10 = isHTTP10
        self.acceptEncoding = AcceptEncoding(acceptEncoding)
        self.availableDictionary = availableDictionary
        self.dictionaryID = dictionaryID
        self.secFetchSite = secFetchSite.map(SecFetchSite.init)
        self.secFetchMode = secFetchMode.map(SecFetchMode.init)
        self.origin = origin
        self.hasRange = hasRange
        self.hasAuthorization = hasAuthorization
        self.hasCookie = hasCookie
        self.hasClientCertificate = hasClientCertificate
        self.hasPersonalField = hasPersonalField
        self.hasPersonalQuery = hasPersonalQuery
        self.noStore = noStore
        self.noTransform = noTransform
        self.isTransportSecure = isTransportSecure
        self.isPathNormal = isPathNormal
        self.hasWholeIdentity = hasWholeIdentity
        self.dictionarySwitch = dictionarySwitch
    }
}
