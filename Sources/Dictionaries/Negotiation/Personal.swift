/// The rules that tell if a response is personal.
package enum Personal {
    /// The cause that makes a response personal: the closed list of Dictum-Explain and of hints.
    package enum Cause: String, CaseIterable, Sendable {
        /// Its Cache-Control says `private`.
        case isPrivate = "private"
        case setCookie = "set-cookie"
        /// It varies on Cookie, and the request has a cookie that is not ignored.
        case variesOnCookie = "vary-cookie"
        /// It varies on Authorization, and the request has that field.
        case variesOnAuthorization = "vary-authorization"
        case variesOnField = "vary-field"
        case authorization
        /// The request has a cookie that is not ignored.
        case cookie
        /// The client showed a certificate.
        case certificate
        case field
        case query
    }

    /// Returns the cause that makes the response personal; nil if there is none.
    ///
    /// A cause is in the response, or in the request and not lifted by the response. A request without a field on
    /// which the response varies gets the anonymous variant, which it shares with everyone who sends none (RFC 9111
    /// section 4.1).
    package static func cause(
        request: RequestFacts, response: ResponseFacts, policy: PersonalPolicy
    ) -> Cause? {
        let cacheControl = response.cacheControl
        // RFC 9111 section 5.2.2.7. If `private` and `public` contradict each other, the stricter one counts.
        if cacheControl.isPrivate { return .isPrivate }
        if !response.setCookieNames.allSatisfy(policy.ignoredSetCookies.contains) { return .setCookie }
        for name in response.varyNames {
            if name == "cookie" {
                if request.hasCookie { return .variesOnCookie }
            } else if name == "authorization" {
                if request.hasAuthorization { return .variesOnAuthorization }
            } else if policy.matches(fieldName: name) {
                return .variesOnField
            }
        }
        if cacheControl.permitsSharing { return nil }
        // RFC 9111 section 3.5: public, s-maxage and must-revalidate allow sharing the response to Authorization.
        if request.hasAuthorization && !cacheControl.permitsAuthorization { return .authorization }
        if request.hasCookie && !cacheControl.immutable && !policy.cookiesIgnored { return .cookie }
        if request.hasClientCertificate { return .certificate }
        if request.hasPersonalField { return .field }
        return request.hasPersonalQuery ? .query : nil
    }

    /// Returns true if a credential may have chosen the response, whatever the request is known to have had.
    ///
    /// A saved request may lack its credentials, as in a HAR file of a browser. `*` stands for any field.
    package static func mayVaryByUser(_ response: ResponseFacts, policy: PersonalPolicy) -> Bool {
        response.varyNames.contains {
            ["*", "cookie", "authorization"].contains($0) || policy.matches(fieldName: $0)
        }
    }

    package static func isPersonal(
        request: RequestFacts, response: ResponseFacts, policy: PersonalPolicy
    ) -> Bool {
        cause(request: request, response: response, policy: policy) != nil
    }
}
