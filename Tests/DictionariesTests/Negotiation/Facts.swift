internal import Dictionaries

/// The facts of the plainest exchange that a delta is sent for; each test changes one of them.
enum Facts {
    static let digest = Digest(bytes: Array(repeating: 7, count: 32))
    static let preference: [ContentCoding] = [.dcz, .dcb, .zstd, .br, .gzip]

    static func request(
        accept: String = "gzip, br, zstd, dcb, dcz", _ change: (inout RequestFacts) -> Void = { _ in }
    ) -> RequestFacts {
        var facts = RequestFacts(acceptEncoding: [accept], availableDictionary: digest)
        change(&facts)
        return facts
    }

    static func response(_ change: (inout ResponseFacts) -> Void = { _ in }) -> ResponseFacts {
        var facts = ResponseFacts(contentType: "application/json", bodyBytes: 10_000)
        change(&facts)
        return facts
    }

    static func route(_ change: (inout RoutePolicy) -> Void = { _ in }) -> RoutePolicy {
        var policy = RoutePolicy(
            types: MediaTypes(["application/json", "text/*"]),
            personal: PersonalPolicy(fieldPatterns: ["x-api-key", "cf-access-*"], queryNames: ["token"]))
        change(&policy)
        return policy
    }

    static func decide(
        _ request: RequestFacts = request(), _ response: ResponseFacts = response(),
        _ route: RoutePolicy = route(),
        _ dictionary: DictionaryFound = .found(bytes: 10_000, startsWithZstdMagic: false),
        preference: [ContentCoding] = preference, isBusy: Bool = false
    ) -> Decision {
        Negotiation.decide(
            request: request, response: response, route: route, dictionary: dictionary,
            serverPreference: preference,
            isBusy: isBusy)
    }
}
