internal import Dictionaries
internal import HTTP

enum DoctorFinding: Equatable, Sendable {
    enum Level: String, Sendable {
        /// Dictionaries work.
        case good
        /// Dictionaries work, but less than they could.
        case warning
        /// Dictionaries do not work, or break pages.
        case problem
    }

    // MARK: Transport
    /// The machine itself: browsers use dictionaries there over http too, whatever the certificate.
    case loopback
    case systemAuthority
    case insecureTransport
    /// The certificate leads only to the authority of `--ca`.
    case privateAuthority
    case untrusted(String)
    /// The server has chosen HTTP/2 in the TLS handshake.
    case http2
    /// The server has chosen an older version, although HTTP/2 was offered.
    case http1Only(String)
    /// HTTP/2 without TLS, which no browser speaks.
    case priorKnowledge
    case noResponse(String)
    case status(Int, location: String?)
    /// The status by which servers refuse a GET of a path for other methods.
    case wrongMethod(Int)

    // MARK: The offer
    case offered(match: String, seconds: Int64)
    case linked(target: String, match: String, seconds: Int64)
    case notOffered(reason: String?)
    /// The response itself forbids its use as a dictionary.
    case notOfferable(UnofferedReason)
    /// The response to POST or QUERY has no explicit lifetime (RFC 9110 section 9.3.3).
    case noLifetime(Method)
    /// The response to POST has a Content-Location (RFC 9110 section 8.7).
    case contentLocation(String)
    /// Nothing in the response to POST or QUERY forbids an offer.
    case methodNotListed(Method)
    /// Browsers keep one dictionary for all contents of the requests.
    case sharedMatch(String)
    /// A Link on a response that is not a document.
    case linkNotFollowed(String)
    case ttlIgnored(Int)
    case offerStripped
    case offerMalformed(String)
    case matchInvalid(String)
    case matchElsewhere(String)
    case unkept(UnkeptReason)
    case shortLife(Int64)
    /// No browser keeps the response for long, but that of its twin URL, if a page has it fetched.
    case twinWorks(UnkeptReason?, seconds: Int64, TwinLine)
    /// No browser keeps the response for long, and it belongs to one user, whose pages can have its twin URL fetched.
    case needsTwin(UnkeptReason?, seconds: Int64, TwinLine)
    /// No page can announce the dictionary, which would compensate for its short lifetime.
    case notAnnounceable(UnannouncedReason)
    case linkFailed(String, why: String)

    // MARK: The use
    case used(ContentCoding, wireBytes: Int, bodyBytes: Int)
    case availableDictionaryStripped
    case codingsStripped
    case forwardedAsInsecure
    case notUsed(reason: String?)
    /// With `mayBeReplaced`, the server may have kept a newer body of this user in the dictionary's place.
    case notAlwaysUsed(used: Int, asked: Int, mayBeReplaced: Bool = false)
    case wrongHash(ContentCoding)
    case undecodable(String)
    case otherBody

    // MARK: Pages of other origins, and real browsers
    case crossSite
    case corsMissing
    case sameSite
    case browserUsed(Int, of: Int)
    case browserNoDelta(Int)
    case browserUnchanged(Int)
    case browserFailed(String)

    // MARK: Caches
    case varyMissing([String])
    case cacheIgnoresVary
    case mixed
    case changesEachTime
    case variesWidely(String)
    case setsCookie([String])
    case setsHarmlessCookie([String])

    var level: Level {
        switch self {
        case .loopback, .systemAuthority, .offered, .linked, .used, .sameSite, .browserUsed, .setsCookie,
            .setsHarmlessCookie, .http2, .sharedMatch:
            .good
        case .twinWorks, .needsTwin, .shortLife, .notAlwaysUsed, .changesEachTime, .ttlIgnored,
            .notAnnounceable,
            .browserUnchanged,
            .variesWidely, .http1Only, .priorKnowledge:
            .warning
        default: .problem
        }
    }
}

/// The line by which a page has a twin URL fetched.
struct TwinLine: Equatable, Sendable {
    /// Stands for the paths that a page fetches where they are not known.
    static let anyPath = "/PATH"

    let path: String
    let hasAuthorization: Bool

    var text: String {
        hasAuthorization
            ? "fetch(\"\(DictionaryPath.twin(of: path))\", {headers: {Authorization: ...}, priority: \"low\"})"
            : "<script src=\"\(DictionaryPath.ownScript)\" data-paths=\"\(path)\" async></script>"
    }
}

/// A reason why no page can announce a response as a dictionary.
enum UnannouncedReason: Sendable {
    /// Every response has another body, so no body reaches three clients.
    case changesEachTime
    case notPublic
    case setsCookie
    /// The requests identify their user.
    case credentials
}

/// A reason why a response is no dictionary, found in its own fields.
enum UnofferedReason: Sendable {
    case noStore, isPrivate, varyAny
}
