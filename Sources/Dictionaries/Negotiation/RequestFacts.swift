/// The facts about a request that the decisions depend on.
package struct RequestFacts: Sendable {
    /// The methods that the decisions distinguish.
    package enum MethodClass: Sendable { case get, head, query, post, other }

    package var method = MethodClass.get
    package var isHTTP10 = false
    package var acceptEncoding = AcceptEncoding([])
    /// The one valid digest that the client advertises.
    package var availableDictionary: Digest?
    /// The one valid Dictionary-ID next to a digest, or next to a body that may be coded over a dictionary.
    package var dictionaryID: String?
    package var secFetchSite: SecFetchSite?
    package var secFetchMode: SecFetchMode?
    /// Origin, as sent.
    package var origin: String?
    package var hasRange = false
    /// True if the client has a response that it asks about (RFC 9110 sections 13.1.2 and 13.1.3).
    package var isConditional = false
    package var hasAuthorization = false
    /// True if the request has a cookie that the setting `ignore_cookies` does not name.
    package var hasCookie = false
    package var hasClientCertificate = false
    package var hasPersonalField = false
    package var hasPersonalQuery = false
    package var noStore = false
    package var noTransform = false
    /// True if the client's transport counts as secure under the setting `secure_transport`.
    package var isTransportSecure = true
    package var isPathNormal = true
    /// True on a private route if the identity is complete and covers Cookie and Authorization.
    package var hasWholeIdentity = false
    /// The reason why no dictionary may be used or offered for now, whatever the request; nil if there is none.
    package var dictionarySwitch: Reason?

    /// True if no credential of the request names its user.
    package var isNobodys: Bool {
        !hasAuthorization && !hasCookie && !hasClientCertificate && !hasPersonalField && !hasPersonalQuery
    }

    /// Makes the facts of a GET over a secure transport without any of these fields.
    package init() {}
}
