internal import Dictionaries

/// One thing that the doctor has found; the closed list, whose names are for programs.
enum DoctorFinding: Equatable, Sendable {
    /// How much it matters.
    enum Level: String, Sendable {
        /// As it should be.
        case good
        /// Dictionaries work, but less than they could.
        case warning
        /// Dictionaries do not work, or break pages.
        case problem
    }

    // MARK: The way there
    case loopback
    case systemAuthority
    case insecureTransport
    case privateAuthority
    case untrusted(String)
    case noAnswer(String)
    case status(Int, location: String?)

    // MARK: The offer
    case offered(match: String, seconds: Int64)
    case linked(target: String, match: String, seconds: Int64)
    case notOffered(reason: String?)
    /// The response itself says that nobody may keep it, or not for others.
    case notOfferable(UnofferedReason)
    /// A Link on what is no document.
    case linkNotFollowed(String)
    case ttlIgnored(Int)
    case offerStripped
    case offerMalformed(String)
    case matchInvalid(String)
    case matchElsewhere(String)
    case unkept(UnkeptReason)
    case shortLife(Int64)
    /// No page can announce the dictionary, which would make up for a life that is too short.
    case notAnnounceable(UnannouncedReason)
    case linkFailed(String, why: String)

    // MARK: The use
    case used(ContentCoding, wireBytes: Int, bodyBytes: Int)
    case availableDictionaryStripped
    case codingsStripped
    case forwardedAsInsecure
    case notUsed(reason: String?)
    case notAlwaysUsed(used: Int, asked: Int)
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

    /// How much it matters.
    var level: Level {
        switch self {
        case .loopback, .systemAuthority, .offered, .linked, .used, .sameSite, .browserUsed, .setsCookie,
            .setsHarmlessCookie:
            .good
        case .shortLife, .notAlwaysUsed, .changesEachTime, .ttlIgnored, .notAnnounceable, .browserUnchanged,
            .variesWidely:
            .warning
        default: .problem
        }
    }
}

/// Why no page can announce a response as a dictionary.
enum UnannouncedReason: Sendable {
    /// Each body is another, so that none reaches three clients alike.
    case changesEachTime
    case notPublic
    case setsCookie
    /// The requests say who their user is.
    case credentials
}

/// Why a response is no dictionary, by its own fields.
enum UnofferedReason: String, Sendable {
    case noStore = "no-store"
    case isPrivate = "private"
    case varyAny = "Vary: *"
}
