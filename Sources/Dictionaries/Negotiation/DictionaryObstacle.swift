/// The rules against dictionaries for a response: `Negotiation` asks them about use, `Offer` about offers. `Admission` asks about
/// the route's scope alone.
extension RoutePolicy {
    /// Returns the reason why this response may neither use a dictionary nor be offered as one, whatever the dictionary;
    /// nil if it may.
    package func dictionaryObstacle(request: RequestFacts, response: ResponseFacts) -> Reason? {
        if !areDictionariesOn { return .switchedOff }
        if !hasDictionary { return .routeOff }
        if let reason = request.dictionarySwitch { return reason }
        if !request.isPathNormal { return .pathNotNormal }
        // RFC 9842 section 8: dictionaries are for secure contexts.
        if !request.isTransportSecure { return .insecureTransport }
        if !CrossOrigin.allowsDictionary(request: request, response: response) { return .crossOrigin }
        if let reason = scopeObstacle(request: request, response: response) { return reason }
        // This is the last check, since it nearly always passes.
        return CrossOrigin.allowsDictionaryOfOneUser(request: request)
            || Audience.of(request: request, response: response, policy: self) != .personal
            ? nil : .crossOrigin
    }

    /// Returns the reason why the scope of the route forbids dictionaries for this response; nil if it allows them.
    func scopeObstacle(request: RequestFacts, response: ResponseFacts) -> Reason? {
        switch scope {
        case .public:
            personalUse == .off && Personal.isPersonal(request: request, response: response, policy: personal)
                ? .personal : nil
        case .private: request.hasWholeIdentity ? nil : .identityIncomplete
        }
    }
}
