/// The rules for a response that may be coded at all; see the article Rules.
package enum Eligibility {
    /// Returns the reason why the response must not be coded; nil if it may be.
    package static func obstacle(
        request: RequestFacts, response: ResponseFacts, policy: RoutePolicy
    ) -> Reason? {
        if let reason = transformObstacle(request: request, response: response) { return reason }
        if !policy.types.contains(response.contentType) {
            return MediaTypes.isEventStream(response.contentType) ? .eventStream : .ineligibleType
        }
        if let bytes = response.bodyBytes, bytes < max(1, policy.bodyBytesMin) { return .ineligibleSize }
        return nil
    }

    /// Returns the reason why no byte of the response may change, not even by decoding it; nil if it may.
    static func transformObstacle(request: RequestFacts, response: ResponseFacts) -> Reason? {
        // The response to HEAD has the fields of the response to GET.
        if request.method == .other { return .ineligibleMethod }
        if request.hasRange || response.hasContentRange { return .range }
        if response.status != 200 { return .ineligibleStatus }
        // RFC 9111 sections 5.2.1.6 and 5.2.2.6.
        if request.noTransform || response.cacheControl.noTransform { return .noTransform }
        if response.coding == .foreign { return .codedUpstream }
        return nil
    }
}
