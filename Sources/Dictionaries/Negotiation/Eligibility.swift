/// Whether an answer may be coded at all, by the first sentence of the contract's paragraph on use.
package enum Eligibility {
    /// Why the answer must go as it is; nil where it may be coded.
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

    /// Why no byte of the answer may be changed, not even its coding undone.
    static func transformObstacle(request: RequestFacts, response: ResponseFacts) -> Reason? {
        // HEAD is answered with the fields of GET.
        if request.method == .other { return .ineligibleMethod }
        if request.hasRange || response.hasContentRange { return .range }
        if response.status != 200 { return .ineligibleStatus }
        // RFC 9111 sections 5.2.1.6 and 5.2.2.6.
        if request.noTransform || response.cacheControl.noTransform { return .noTransform }
        if response.coding == .foreign { return .codedUpstream }
        return nil
    }
}
