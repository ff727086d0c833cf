internal import Dictionaries
internal import HTTP

/// The response that a browser would keep as a dictionary for the URL, whether it is offered as one or not.
struct DoctorDictionary: Sendable {
    /// The way it was found.
    enum Source: Equatable, Sendable {
        /// The response of the URL itself.
        case own
        /// A dictionary that the response names by Link.
        case linked(String)
    }

    let source: Source
    let url: FetchURL
    let answer: FetchAnswer
    let body: Body

    /// The Use-As-Dictionary field; nil without one.
    var field: String? { answer.head.headers.joined(.useAsDictionary) }

    /// The value of that field; nil if it is invalid.
    var offer: UseAsDictionary? { UseAsDictionary.parse(answer.head.headers.values(.useAsDictionary)) }

    /// The pattern of the offer; nil if it is invalid or one that browsers refuse.
    var pattern: URLPattern? {
        offer.flatMap { try? URLPattern($0.match, basePath: url.path, origin: url.origin) }
    }

    /// Returns true if the dictionary is for the URL.
    func isFor(_ url: FetchURL) -> Bool {
        var budget = MatchBudget()
        return pattern?.matches(path: url.path, query: url.query, within: &budget) == true
    }

    /// The reason why Chromium does not keep it; nil if it does.
    var unkept: UnkeptReason? {
        if answer.head.headers.containsToken(.vary, "*") { return .varyAny }
        return freshness.obstacle
    }

    /// The seconds for which Chromium keeps it, from when it came.
    var remainingSeconds: Int64 { freshness.remainingSeconds }

    private var freshness: ChromiumFreshness {
        ChromiumFreshness(answer.head.headers, receivedAt: answer.receivedAt)
    }

    /// The dictionary in the form in which a request offers it.
    var held: HeldDictionary {
        HeldDictionary(
            record: CachedDictionary(
                url: url.text, match: offer?.match ?? "", matchDest: offer?.matchDest ?? [],
                id: offer?.id ?? "", digest: body.digest.hex, bytes: body.count, etag: nil, storedAt: 0,
                usableSeconds: 0, expiresAt: 0), body: body)
    }
}
