internal import Dictionaries
internal import DictionaryFiles
internal import HTTP

struct DoctorProbe: Sendable {
    enum Offer: Sendable {
        case nothing
        /// The dictionary under examination.
        case held
        /// A dictionary that only this client has.
        case unknown
    }

    let offer: Offer
    let url: FetchURL
    let response: FetchResponse
    let body: Result<Body, FetchError>

    init(_ offer: Offer, _ visit: FetchVisit, _ response: FetchResponse) {
        self.offer = offer
        url = visit.url
        self.response = response
        body = Result { () throws(FetchError) in try visit.body(of: response) }
    }

    /// True if the body is worth examining.
    var isOK: Bool { response.head.status == .ok }

    /// The coding; nil if it is unknown.
    var coding: ContentCoding? { try? FetchVisit.coding(of: response) }

    /// True if the body is coded over a dictionary.
    var isDelta: Bool { coding?.usesDictionary == true }

    var decoded: Body? { try? body.get() }

    /// True if a shared cache says that the response comes from it.
    var isFromCache: Bool {
        let headers = response.head.headers
        // RFC 9111 section 5.1: only responses from a cache have Age, but some caches send 0 on every response.
        // The other fields are those of CDNs and of RFC 9211.
        if let age = headers.first(.age), age != "0" { return true }
        return Self.cacheFields.contains { name in
            headers.values(name).contains { value in
                value.lowercased().split { !$0.isLetter }.contains("hit")
            }
        }
    }

    private static let cacheFields = [
        "X-Cache", "X-Cache-Status", "X-Proxy-Cache", "CF-Cache-Status", "Cache-Status",
    ].compactMap { HeaderName($0) }

    /// The reason that Dictum gives when `explain` is on.
    var reason: String? { explained("reason") }

    /// The reason why Dictum offers nothing, where it is another.
    var notOffered: String? { explained("not-offered") }

    private func explained(_ name: String) -> String? {
        response.head.headers.first(.dictumExplain)?.split(separator: ";").lazy
            .first { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.count + 1)) }
    }

    /// The fields among Accept-Encoding and Available-Dictionary that its Vary does not name (RFC 9842 section
    /// 6.2).
    var missingInVary: [String] {
        let names = Vary.names(response.head.headers.values(.vary))
        if names.contains("*") { return [] }
        return ["Accept-Encoding", "Available-Dictionary"].filter { !names.contains($0.lowercased()) }
    }
}

/// The response that a browser would keep as a dictionary for the URL, whether it is offered as one or not.
struct DoctorDictionary: Sendable {
    enum Source: Equatable, Sendable {
        /// The response of the URL itself.
        case own
        /// A dictionary that the response names by Link.
        case linked(String)
        case twin
    }

    let source: Source
    let url: FetchURL
    let response: FetchResponse
    let body: Body
    /// False for a response to POST or QUERY, which has no heuristic lifetime.
    var isOfGET = true

    var field: String? { response.head.headers.joined(.useAsDictionary) }

    /// The value of that field; nil if it is invalid.
    var offer: UseAsDictionary? { UseAsDictionary.parse(response.head.headers.values(.useAsDictionary)) }

    /// The pattern of the offer; nil if it is invalid or one that browsers refuse.
    var pattern: URLPattern? {
        offer.flatMap { try? URLPattern($0.match, basePath: url.path, origin: url.origin) }
    }

    func isFor(_ url: FetchURL) -> Bool {
        var budget = MatchBudget()
        return pattern?.matches(path: url.path, query: url.query, within: &budget) == true
    }

    var judgement: ResponseJudgement {
        ResponseJudgement(
            headers: response.head.headers, receivedAt: response.receivedAt, isOfGET: isOfGET)
    }

    /// The dictionary in the form in which a request offers it.
    var held: VerifiedDictionary { VerifiedDictionary(body, url: url.text, offer: offer) }
}

extension VerifiedDictionary {
    /// Makes a dictionary for the requests of this process alone.
    init(_ body: Body, url: String = "", offer: UseAsDictionary? = nil) {
        let dictionary = CachedDictionary(
            url: url, match: offer?.match ?? "", matchDest: offer?.matchDest ?? [], id: offer?.id ?? "",
            digest: body.digest.hex, bytes: body.count, etag: nil, storedAt: 0, usableSeconds: 0, expiresAt: 0
        )
        self.init(record: ClientRecord(dictionary: dictionary, fields: []), body: body)
    }
}
