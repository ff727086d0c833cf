internal import Dictionaries
internal import Primitives
internal import Proxy

/// The credentials in the fields of a request, as `serve` knows them by its default settings.
struct RequestCredentials: OptionSet, Sendable {
    let rawValue: Int

    static let authorization = RequestCredentials(rawValue: 1)
    /// A cookie that is not in `ignore_cookies`.
    static let cookie = RequestCredentials(rawValue: 2)
    /// One of `personal_fields`.
    static let field = RequestCredentials(rawValue: 4)

    private static let policy = Configuration().personal(on: nil)
}

extension RequestCredentials {
    init(_ fields: some Sequence<(name: String, value: String)>) {
        self = []
        for (name, value) in fields { insert(Self.credential(name, value)) }
    }

    private static func credential(_ name: String, _ value: String) -> RequestCredentials {
        switch name.lowercased() {
        case "authorization": .authorization
        case "cookie": policy.ignoredCookies.counts(value.utf8Bytes.span) ? .cookie : []
        default: policy.matches(fieldName: name) ? .field : []
        }
    }

    /// Notes the credentials in the facts by which `serve` judges a response.
    func note(in request: inout RequestFacts) {
        request.hasAuthorization = contains(.authorization)
        request.hasCookie = contains(.cookie)
        request.hasPersonalField = contains(.field)
    }
}
