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
    /// The body cannot be written.
    case output(String)

    var description: String {
        switch self {
        case .notAURL(let text): "\(text) is no URL; expected one such as http://127.0.0.1:8080/api/feed"
        case .tls(let why): "TLS cannot be set up: \(why)"
        case .unknownHost(let host): "the name \(host) has no address; check it and the name service"
        case .exchange(let error): Self.text(of: error)
        case .tooSlow(let seconds): "no whole answer within \(seconds) s; allow more with --max-time SECONDS"
        case .tooLarge(let limit): "the answer has more than \(limit) bytes, which is more than fetch takes"
        case .unknownCoding(let coding):
            "the answer has Content-Encoding: \(coding), which fetch does not read"
        case .noDictionaryOffered(let coding):
            "the answer is coded in \(coding.token) although no dictionary was offered; the server is at fault"
        case .coding(let error): "the answer cannot be decoded: \(error); nothing of it was used"
        case .output(let why): why
        }
    }

    private static func text(of error: UpstreamError) -> String {
        switch error {
        case .connectFailed(let cause): "cannot connect: \(cause.text); check that the server runs there"
        case .handshakeFailed(let cause): "no TLS with the server: \(cause.text); nothing was sent"
        case .connectTimeout: "cannot connect: no answer in time; check that the server runs there"
        case .stale, .closedBeforeHead: "the server closed the connection without an answer"
        case .malformed(let cause): "the answer is no HTTP: \(cause.text)"
        case .headTimeout, .idleTimeout: "the server sent nothing for too long"
        case .truncated: "the answer broke off before its end; nothing of it was used"
        }
    }
}
