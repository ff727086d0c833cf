internal import Primitives

/// A request method (RFC 9110 section 9), which is case-sensitive.
package enum Method: Hashable, Sendable, CustomStringConvertible {
    case get, head, post, put, delete, options, trace, connect, patch
    /// The safe method with content (draft-ietf-httpbis-safe-method-w-body).
    case query
    case other(String)

    /// Takes a method by its name; nil unless it is a token.
    package init?(_ text: String) {
        guard !text.isEmpty, text.utf8.allSatisfy(ASCII.isToken) else { return nil }
        self.init(token: text.utf8.span)
    }

    /// Takes a method whose bytes are known to be a token.
    init(token: Span<UInt8>) {
        // Most are this one, and a comparison costs less than a String.
        if token.equals("GET") {
            self = .get
            return
        }
        let text = String(token)
        self = Self.registered.first { $0.text == text } ?? .other(text)
    }

    private static let registered: [Method] = [
        .head, .post, .put, .delete, .options, .trace, .connect, .patch, .query,
    ]

    // Declared, because callers in other modules reach a derived one by its witness.
    @inlinable @inline(__always)
    package static func == (one: Method, other: Method) -> Bool {
        if case .other(let text) = one, case .other(let otherText) = other { return text == otherText }
        return one.number == other.number
    }

    @inlinable @inline(__always)
    var number: Int {
        switch self {
        case .get: 0
        case .head: 1
        case .post: 2
        case .put: 3
        case .delete: 4
        case .options: 5
        case .trace: 6
        case .connect: 7
        case .patch: 8
        case .query: 9
        case .other: 10
        }
    }

    package var text: String {
        switch self {
        case .get: "GET"
        case .head: "HEAD"
        case .post: "POST"
        case .put: "PUT"
        case .delete: "DELETE"
        case .options: "OPTIONS"
        case .trace: "TRACE"
        case .connect: "CONNECT"
        case .patch: "PATCH"
        case .query: "QUERY"
        case .other(let text): text
        }
    }

    package var description: String { text }

    /// True if the method asks for no change (RFC 9110 section 9.2.1); false for unknown methods.
    package var isSafe: Bool {
        switch self {
        case .get, .head, .options, .trace, .query: true
        default: false
        }
    }

    /// True if repeating the request has no further effect (RFC 9110 section 9.2.2); false for unknown methods.
    package var isIdempotent: Bool { isSafe || self == .put || self == .delete }
}
