/// The settings of a route that the decisions depend on.
///
/// It is a class, since every request passes it on several times, and a copy of its lists would be counted each
/// time.
package final class RoutePolicy: Sendable {
    package enum Scope: Sendable { case `public`, `private` }

    /// The use of personal responses: the setting `personal`.
    package enum PersonalUse: Sendable {
        /// They become dictionaries for the clients that were given them, by their id.
        case capability
        /// They neither use dictionaries nor become dictionaries.
        case off
    }

    /// True if dictionaries are on at all: the setting `dictionaries`.
    package let areDictionariesOn: Bool
    package let hasDictionary: Bool
    /// The methods whose responses become versions: the setting `methods`.
    package let methods: [RequestFacts.MethodClass]
    package let scope: Scope
    /// The media types that are coded and admitted.
    package let types: MediaTypes
    /// The minimum length of a body that is coded or admitted.
    package let bodyBytesMin: Int
    /// The maximum length of a body that is admitted.
    package let bodyBytesMax: Int
    package let personal: PersonalPolicy
    package let personalUse: PersonalUse
    /// True if responses with `no-store` become versions: the setting `store_despite`.
    package let storesDespiteNoStore: Bool

    /// The values where the configuration says nothing.
    package enum Defaults {
        package static let methods: [RequestFacts.MethodClass] = [.get, .query]
        package static let bodyBytesMin = 256
        package static let bodyBytesMax = 8 << 20
    }

    /// Makes a policy, by default without types.
    package init(
        areDictionariesOn: Bool = true, hasDictionary: Bool = true,
        methods: [RequestFacts.MethodClass] = Defaults.methods, scope: Scope = .public,
        types: MediaTypes = MediaTypes([]), bodyBytesMin: Int = Defaults.bodyBytesMin,
        bodyBytesMax: Int = Defaults.bodyBytesMax,
        personal: PersonalPolicy = PersonalPolicy(), personalUse: PersonalUse = .capability,
        storesDespiteNoStore: Bool = false
    ) {
        self.areDictionariesOn = areDictionariesOn
        self.hasDictionary = hasDictionary
        self.methods = methods
        self.scope = scope
        self.types = types
        self.bodyBytesMin = bodyBytesMin
        self.bodyBytesMax = bodyBytesMax
        self.personal = personal
        self.personalUse = personalUse
        self.storesDespiteNoStore = storesDespiteNoStore
    }
}
