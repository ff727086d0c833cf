/// The rules for a response that may become a version of its chain; see the article Rules.
package enum Admission {
    /// Returns the reason why the response must not become a version; nil if it may.
    ///
    /// The body need not have come: `VersionCopy` bounds one of unknown length by `bodyBytesMax`, and
    /// `StoreAdmission.bodyBytesMax` bounds every body by its share of the store.
    package static func obstacle(
        request: RequestFacts, response: ResponseFacts, policy: RoutePolicy
    ) -> Reason? {
        if !policy.areDictionariesOn { return .switchedOff }
        if !policy.hasDictionary { return .routeOff }
        if let reason = request.dictionarySwitch { return reason }
        if !policy.methods.contains(request.method) { return .ineligibleMethod }
        if response.status != 200 { return .ineligibleStatus }
        if response.hasContentRange { return .range }
        if !request.isPathNormal { return .pathNotNormal }
        if request.noStore || response.cacheControl.noStore && !policy.storesDespiteNoStore {
            return .noStore
        }
        if response.varyNames.contains("*") { return .varyAny }
        if request.method != .get {
            // RFC 9110 section 9.3.3: a response to POST with another Content-Location reports on an action.
            if request.method == .post, response.contentLocation == .other { return .contentLocation }
            if !response.isExplicitlyFresh { return .notFresh }
        }
        if response.coding == .foreign { return .codedUpstream }
        if MediaTypes.isEventStream(response.contentType) { return .eventStream }
        if !policy.types.contains(response.contentType) { return .ineligibleType }
        if let bytes = response.bodyBytes,
            bytes < max(1, policy.bodyBytesMin) || bytes > policy.bodyBytesMax
        {
            return .ineligibleSize
        }
        return policy.scopeObstacle(request: request, response: response)
    }
}
