internal import Dictionaries

/// The facts of the plainest exchange with a delta; each test changes one of them.
enum Facts {
    static let digest = Digest(bytes: Array(repeating: 7, count: 32))
    static let preference: [ContentCoding] = [.dcz, .dcb, .zstd, .br, .gzip]

    static func request(
        accept: String = "gzip, br, zstd, dcb, dcz", _ change: (inout RequestFacts) -> Void = { _ in }
    ) -> RequestFacts {
        var facts = RequestFacts()
        facts.acceptEncoding = AcceptEncoding([accept])
        facts.availableDictionary = digest
        change(&facts)
        return facts
    }

    static func response(_ change: (inout ResponseFacts) -> Void = { _ in }) -> ResponseFacts {
        var facts = ResponseFacts()
        facts.contentType = "application/json"
        facts.bodyBytes = 100_000
        change(&facts)
        return facts
    }

    /// A route's policy while a test still changes it.
    struct RouteDraft {
        var areDictionariesOn = true
        var hasDictionary = true
        var methods: [RequestFacts.MethodClass] = [.get, .query]
        var scope = RoutePolicy.Scope.public
        var types = MediaTypes(["application/json", "text/*"])
        var bodyBytesMin = 256
        var bodyBytesMax = 8 << 20
        var cookiesIgnored = false
        var personalUse = RoutePolicy.PersonalUse.capability
        var ignoredSetCookies: [String] = []
        var storesDespiteNoStore = false

        var policy: RoutePolicy {
            RoutePolicy(
                areDictionariesOn: areDictionariesOn, hasDictionary: hasDictionary, methods: methods,
                scope: scope,
                types: types,
                bodyBytesMin: bodyBytesMin, bodyBytesMax: bodyBytesMax,
                personal: PersonalPolicy(
                    fieldPatterns: ["x-api-key", "cf-access-*"], queryNames: ["token"],
                    cookiesIgnored: cookiesIgnored, ignoredSetCookies: ignoredSetCookies),
                personalUse: personalUse, storesDespiteNoStore: storesDespiteNoStore)
        }
    }

    static func route(_ change: (inout RouteDraft) -> Void = { _ in }) -> RoutePolicy {
        var draft = RouteDraft()
        change(&draft)
        return draft.policy
    }

    static func decide(
        _ request: RequestFacts = request(), _ response: ResponseFacts = response(),
        _ route: RoutePolicy = route(),
        _ dictionary: DictionaryLookUp = .found(prefersDcb: false),
        preference: [ContentCoding] = preference
    ) -> Decision {
        Negotiation.decide(
            request: request, response: response, route: route, dictionary: dictionary,
            serverPreference: CodingPreference(preference))
    }
}
