/// Whether an answer is somebody's own, by the contract's paragraph of that name.
package enum Personal {
    /// Whether the answer is personal: by what it says itself, or by what the request has and the answer does not lift.
    package static func isPersonal(
        request: RequestFacts, response: ResponseFacts, policy: PersonalPolicy
    ) -> Bool {
        let cacheControl = response.cacheControl
        // RFC 9111 section 5.2.2.7; it beats `public`, the more careful of two that contradict each other.
        if cacheControl.isPrivate { return true }
        for name in response.varyNames
        where name == "cookie" || name == "authorization" || policy.matches(fieldName: name) {
            return true
        }
        if cacheControl.permitsSharing { return false }
        // RFC 9111 section 3.5: public, s-maxage and must-revalidate allow sharing the answer to Authorization.
        if request.hasAuthorization && !cacheControl.mustRevalidate { return true }
        if request.hasCookie && !cacheControl.immutable && !policy.cookiesIgnored { return true }
        return request.hasClientCertificate || request.hasPersonalField || request.hasPersonalQuery
    }
}
