internal import Dictionaries
internal import HTTP

/// One request of the doctor and its response.
struct DoctorProbe: Sendable {
    /// The dictionary that a request offers.
    enum Offer: Sendable {
        /// No dictionary.
        case nothing
        /// The dictionary under examination.
        case held
        /// A dictionary that only this client has.
        case unknown
    }

    let offer: Offer
    let url: FetchURL
    let answer: FetchAnswer
    /// The decoded body, or the error.
    let body: Result<Body, FetchError>

    /// Decodes the response to a visit.
    init(_ offer: Offer, _ visit: FetchVisit, _ answer: FetchAnswer) {
        self.offer = offer
        url = visit.url
        self.answer = answer
        do throws(FetchError) {
            body = .success(try visit.body(of: answer))
        } catch {
            body = .failure(error)
        }
    }

    /// True if the body is worth examining.
    var isOK: Bool { answer.head.status == .ok }

    /// The coding; nil if it is unknown.
    var coding: ContentCoding? { try? FetchVisit.coding(of: answer) }

    /// True if the body is coded over a dictionary.
    var isDelta: Bool { coding?.usesDictionary == true }

    /// The decoded body, if it could be decoded.
    var decoded: Body? { try? body.get() }

    /// True if a shared cache says that the response comes from it.
    var isFromCache: Bool {
        let headers = answer.head.headers
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
    var reason: String? {
        answer.head.headers.first(.dictumExplain)?.split(separator: ";").lazy
            .first { $0.hasPrefix("reason=") }.map { String($0.dropFirst("reason=".count)) }
    }

    /// The fields among Accept-Encoding and Available-Dictionary that its Vary does not name (RFC 9842 section
    /// 6.2).
    var missingInVary: [String] {
        let names = Vary.names(answer.head.headers.values(.vary))
        if names.contains("*") { return [] }
        return ["Accept-Encoding", "Available-Dictionary"].filter { !names.contains($0.lowercased()) }
    }
}
