internal import Dictionaries
internal import HTTP

/// The reason why fetch keeps no dictionary of a response.
struct NotKept: Error {
    /// The reason, and what to do; nil where the user asked for it, or has been told.
    let text: String?

    /// A reason that needs no words.
    init() { text = nil }

    init(_ text: String) { self.text = text }

    init(_ cause: UnkeptCause, _ headers: Headers) {
        switch cause {
        case .status, .empty, .coding: self.init()
        case .notOffered: self.init("the server offers no dictionary; dictum doctor says why")
        case .match: self.init("the match of its Use-As-Dictionary is invalid; dictum doctor says why")
        case .noStore: self.init("no-store or Vary: *; dictum doctor says what to do")
        case .noLifetime: self.init("no lifetime; \(Self.remedy)")
        case .stale:
            let isForbidden = CacheControl(headers.values(.cacheControl)).noCache
            self.init("\(isForbidden ? "no-cache" : "stale when it came"); \(Self.remedy)")
        }
    }

    private static let remedy = "send max-age, give the route a ttl, or see dictum doctor"
}
