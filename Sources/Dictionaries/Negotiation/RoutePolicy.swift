/// The settings of a route that the decisions heed.
///
/// A class, since every request hands it on several times, and a copy of its lists would be counted each time.
package final class RoutePolicy: Sendable {
    /// Whose dictionaries a route has.
    package enum Scope: Sendable { case `public`, `private` }

    /// What becomes of personal responses: the setting `personal`.
    package enum PersonalUse: Sendable {
        /// They are dictionaries for whoever was given them, by their id.
        case capability
        /// They have nothing to do with dictionaries.
        case off
    }

    /// Whether dictionaries are on everywhere: the setting `dictionaries`.
    package let areDictionariesOn: Bool
    /// Whether the route has dictionaries.
    package let hasDictionary: Bool
    /// Whose dictionaries the route has.
    package let scope: Scope
    /// The types that are coded and admitted.
    package let types: MediaTypes
    /// The shortest body that is coded or admitted.
    package let bodyBytesMin: Int
    /// The longest body that is admitted.
    package let bodyBytesMax: Int
    /// What makes a response personal.
    package let personal: PersonalPolicy
    /// What becomes of personal responses.
    package let personalUse: PersonalUse
    /// Whether responses become versions although they say `no-store`: the setting `store_despite`.
    package let storesDespiteNoStore: Bool

    /// A route's policy; the defaults are those of the contract, without types.
    package init(
        areDictionariesOn: Bool = true, hasDictionary: Bool = true, scope: Scope = .public,
        types: MediaTypes = MediaTypes([]), bodyBytesMin: Int = 256, bodyBytesMax: Int = 8 << 20,
        personal: PersonalPolicy = PersonalPolicy(), personalUse: PersonalUse = .capability,
        storesDespiteNoStore: Bool = false
    ) {
        self.areDictionariesOn = areDictionariesOn
        self.hasDictionary = hasDictionary
        self.scope = scope
        self.types = types
        self.bodyBytesMin = bodyBytesMin
        self.bodyBytesMax = bodyBytesMax
        self.personal = personal
        self.personalUse = personalUse
        self.storesDespiteNoStore = storesDespiteNoStore
    }

    /// Why the scope forbids any use of this answer with dictionaries; nil where it does not.
    func scopeObstacle(request: RequestFacts, response: ResponseFacts) -> Reason? {
        switch scope {
        case .public:
            personalUse == .off && Personal.isPersonal(request: request, response: response, policy: personal)
                ? .personal : nil
        case .private: request.hasWholeIdentity ? nil : .identityIncomplete
        }
    }

    /// Why this answer may be neither coded over a dictionary nor offered as one, whatever the dictionary; nil if it may.
    func dictionaryObstacle(request: RequestFacts, response: ResponseFacts) -> Reason? {
        if !areDictionariesOn { return .switchedOff }
        if !hasDictionary { return .routeOff }
        if let reason = request.dictionarySwitch { return reason }
        if !request.isPathNormal { return .pathNotNormal }
        // RFC 9842 section 8: dictionaries are for secure contexts.
        if !request.isTransportSecure { return .insecureTransport }
        if !CrossOrigin.allowsDictionary(request: request, response: response) { return .crossOrigin }
        if let reason = scopeObstacle(request: request, response: response) { return reason }
        // Asked last, as it is nearly always allowed.
        return CrossOrigin.allowsPrivateDictionary(request: request)
            || Audience.of(request: request, response: response, policy: self) != .person ? nil : .crossOrigin
    }
}
