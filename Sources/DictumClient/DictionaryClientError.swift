internal import Dictionaries

/// A failure of a request that is not the transport's own.
public enum DictionaryClientError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The URL is not http or https.
    case notHTTP
    /// The session is a background session.
    case backgroundSession
    /// The body of the request is a stream.
    case bodyStream
    /// The response redirects too often, or to a URL that is not http or https.
    case redirect(String)
    /// The decoded body has more bytes than the client allows.
    case tooLarge(limit: Int)
    /// The body cannot be decoded, also without a dictionary.
    case undecodable(String)
    /// The dictionary that the app ships cannot be one.
    case notPreloaded(String)

    /// The failure in one line.
    public var description: String {
        switch self {
        case .notHTTP: "invalid URL: expected one with http or https and a host"
        case .backgroundSession:
            "a background session writes bodies to files before the app can decode them; use a default or ephemeral session"
        case .bodyStream:
            "a body that is a stream cannot be sent again after a redirect; set httpBody, or send this request without the client"
        case .redirect(let target): "cannot follow the redirect to \(target)"
        case .tooLarge(let limit):
            "the decoded body has more than \(limit) bytes; raise bodyBytesMax if that is right"
        case .undecodable(let cause): "cannot decode the body: \(cause)"
        case .notPreloaded(let cause):
            "cannot preload the dictionary (\(cause)): expected a file with content within the limits, and a match without regular expressions"
        }
    }

    /// Makes the error for the app of a decoder's.
    init(_ error: CodingError, bodyBytesMax: Int) {
        self = error.stage == .limit ? .tooLarge(limit: bodyBytesMax) : .undecodable("\(error)")
    }
}
