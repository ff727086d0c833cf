internal import Dictionaries
internal import HTTP

/// The answer that a browser would keep as a dictionary for the URL, whether it says so or not.
struct DoctorDictionary: Sendable {
    /// How it was come by.
    enum Source: Equatable, Sendable {
        /// The answer of the URL itself.
        case own
        /// What the answer names by Link.
        case linked(String)
    }

    let source: Source
    /// The URL that it came from.
    let url: FetchURL
    let answer: FetchAnswer
    let body: Body

    /// The Use-As-Dictionary field as it came; nil where there is none.
    var field: String? { answer.head.headers.joined(.useAsDictionary) }

    /// What that says; nil where it says nothing valid.
    var offer: UseAsDictionary? { UseAsDictionary.parse(answer.head.headers.values(.useAsDictionary)) }

    /// Its pattern; nil where that is none, or one that browsers refuse.
    var pattern: URLPattern? {
        offer.flatMap { try? URLPattern($0.match, basePath: url.path, origin: url.origin) }
    }

    /// Whether it is for that URL.
    func isFor(_ url: FetchURL) -> Bool {
        var budget = MatchBudget()
        return pattern?.matches(path: url.path, query: url.query, within: &budget) == true
    }

    /// Why Chromium does not keep it; nil where it does.
    var unkept: UnkeptReason? {
        if answer.head.headers.containsToken(.vary, "*") { return .varyAny }
        return freshness.obstacle
    }

    /// For how long Chromium keeps it from when it came.
    var remainingSeconds: Int64 { freshness.remainingSeconds }

    private var freshness: ChromiumFreshness {
        ChromiumFreshness(answer.head.headers, receivedAt: answer.receivedAt)
    }

    /// What a request offers that has it.
    var held: HeldDictionary {
        HeldDictionary(
            record: CachedDictionary(
                url: url.text, match: offer?.match ?? "", matchDest: offer?.matchDest ?? [],
                id: offer?.id ?? "", digest: body.digest.hex, bytes: body.count, etag: nil, storedAt: 0,
                usableSeconds: 0, expiresAt: 0), body: body)
    }
}
