internal import Dictionaries
internal import HTTP

/// An error of a fetch, described in one line that says what to do.
enum FetchError: Error, Equatable, CustomStringConvertible {
    case notAURL(String)
    case tls(String)
    case unknownHost(String)
    case exchange(UpstreamError)
    /// The fetch did not finish within its time limit.
    case tooSlow(seconds: Int)
    /// The coded body has more bytes than this.
    case tooLarge(Int)
    /// The response has a coding that we do not support.
    case unknownCoding(String)
    /// The response is coded over a dictionary, but none was offered.
    case noDictionaryOffered(ContentCoding)
    /// The body cannot be decoded.
    case coding(CodingError)

    var description: String {
        switch self {
        case .notAURL(let text): "invalid URL \(text): expected one such as http://127.0.0.1:8080/api/feed"
        case .tls(let why): "cannot set up TLS: \(why)"
        case .unknownHost(let host): "the host name \(host) does not resolve; check the name and DNS"
        case .exchange(let error): Self.text(of: error)
        case .tooSlow(let seconds):
            "no complete response within \(seconds) s; allow more time with --max-time SECONDS"
        case .tooLarge(let limit): "the response is larger than \(limit) bytes, the limit of fetch"
        case .unknownCoding(let coding):
            "the response has Content-Encoding: \(coding), which fetch does not support"
        case .noDictionaryOffered(let coding):
            "the response is coded in \(coding.token), but no dictionary was offered; this is a fault of the server"
        case .coding(let error): "cannot decode the response: \(error); its body was discarded"
        }
    }

    private static func text(of error: UpstreamError) -> String {
        switch error {
        case .connectFailed(let cause): "cannot connect: \(cause.text); check that the server is running"
        case .handshakeFailed(let cause): "the TLS handshake failed: \(cause.text); nothing was sent"
        case .connectTimeout: "cannot connect: the connection timed out; check that the server is running"
        case .stale, .closedBeforeHead: "the server closed the connection without a response"
        case .malformed(let cause): "the response is not valid HTTP: \(cause.text)"
        case .headTimeout, .idleTimeout: "the server sent nothing for too long"
        case .truncated: "the response was cut off; its body was discarded"
        }
    }
}
