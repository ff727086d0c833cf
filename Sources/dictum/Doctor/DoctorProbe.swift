internal import Dictionaries
internal import HTTP

/// One request of the doctor's, and what came.
struct DoctorProbe: Sendable {
    /// What the request says that it holds.
    enum Offer: Sendable {
        /// No dictionary.
        case nothing
        /// The dictionary under examination.
        case held
        /// A dictionary that nobody else has.
        case unknown
    }

    let offer: Offer
    let url: FetchURL
    let answer: FetchAnswer
    /// The body decoded, or why it cannot be.
    let body: Result<Body, FetchError>

    /// Decodes what a visit has brought.
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

    /// Whether the answer is one of whose body something can be said.
    var isOK: Bool { answer.head.status == .ok }

    /// The coding, where it is one that is known.
    var coding: ContentCoding? { try? FetchVisit.coding(of: answer) }

    /// Whether the body is coded over a dictionary.
    var isDelta: Bool { coding?.usesDictionary == true }

    /// The decoded body, where there is one.
    var decoded: Body? { try? body.get() }

    /// Whether a shared cache says that it has answered by itself.
    var isFromCache: Bool {
        let headers = answer.head.headers
        // RFC 9111 section 5.1: only who answers out of a cache says Age, though some say 0 whenever they pass one on. The
        // others are of CDNs, and of RFC 9211.
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

    /// The reason that Dictum gives where `explain` is on.
    var reason: String? {
        answer.head.headers.first(.dictumExplain)?.split(separator: ";").lazy
            .first { $0.hasPrefix("reason=") }.map { String($0.dropFirst("reason=".count)) }
    }

    /// Which of the two fields that choose among codings its Vary does not name (RFC 9842 section 6.2).
    var missingInVary: [String] {
        let names = Vary.names(answer.head.headers.values(.vary))
        if names.contains("*") { return [] }
        return ["Accept-Encoding", "Available-Dictionary"].filter { !names.contains($0.lowercased()) }
    }
}
