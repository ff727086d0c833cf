/// What the decisions need to know of a request.
package struct RequestFacts: Sendable {
    /// The methods that are told apart.
    package enum Method: Sendable { case get, head, post, other }

    /// The request's method.
    package var method: Method
    /// Whether the client speaks HTTP/1.0.
    package var isHTTP10: Bool
    /// What the client accepts.
    package var acceptEncoding: AcceptEncoding
    /// The one valid digest that the client offers.
    package var availableDictionary: Digest?
    /// The one valid Dictionary-ID, beside a digest.
    package var dictionaryID: String?
    /// Sec-Fetch-Site, where it is sent.
    package var secFetchSite: SecFetchSite?
    /// Sec-Fetch-Mode, where it is sent.
    package var secFetchMode: SecFetchMode?
    /// Origin, as sent.
    package var origin: String?
    /// Whether the request has Range.
    package var hasRange: Bool
    /// Whether the request has Authorization.
    package var hasAuthorization: Bool
    /// Whether the request has a cookie that counts: one that the setting `ignore_cookies` does not name.
    package var hasCookie: Bool
    /// Whether the client showed a certificate.
    package var hasClientCertificate: Bool
    /// Whether a field of the request is among the personal ones.
    package var hasPersonalField: Bool
    /// Whether a name in the query is among the personal ones.
    package var hasPersonalQuery: Bool
    /// Whether the request says `no-store`.
    package var noStore: Bool
    /// Whether the request says `no-transform`.
    package var noTransform: Bool
    /// Whether the client's transport counts as secure under the setting `secure_transport`.
    package var isTransportSecure: Bool
    /// Whether the path is in normal form.
    package var isPathNormal: Bool
    /// On a private route: each item of the identity is there, and no Cookie or Authorization that it does not cover.
    package var hasWholeIdentity: Bool
    /// Why no dictionary may be used or offered for now, whatever the request; nil where nothing forbids it.
    package var dictionarySwitch: Reason?

    /// The facts of a plain GET with nothing in its fields, but for what is given.
    package init(
        method: Method = .get, isHTTP10: Bool = false, acceptEncoding: [String] = [],
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
