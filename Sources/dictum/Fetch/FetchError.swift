internal import Dictionaries
internal import HTTP

/// An error of a fetch, described in one line that says what to do.
enum FetchError: Error, Equatable, CustomStringConvertible {
    case notAURL(String)
    case tls(String)
    case unknownHost(String)
    case exchange(UpstreamError)
    /// HTTP/2 is to be negotiated, but the URL has no TLS for that.
    case http2WithoutTLS(String)
    /// The fetch did not finish within its time limit, which may be that of an option.
    case tooSlow(seconds: Int, isOption: Bool)
    /// The coded body has more bytes than this.
    case tooLarge(Int)
    /// The response has a coding that we do not support.
    case unknownCoding(String)
    /// The response is coded over a dictionary, but none was offered.
    case noDictionaryOffered(ContentCoding)
    /// The body cannot be decoded.
    case coding(CodingError)
    /// The redirect leads to this, which is no URL of fetch.
    case redirect(String)
    case tooManyRedirects(String)
    case http2WithContent
    /// The command line names a method or a content that cannot be sent.
    case content(String)

    var description: String {
        switch self {
        case .notAURL(let text):
            "invalid URL \(text): expected one such as http://127.0.0.1:8080/api/feed"
                + (text.utf8.allSatisfy { $0 < 0x80 } ? "" : "; write characters beyond ASCII as %XX")
        case .tls(let why): "cannot set up TLS: \(why)"
        case .unknownHost(let host): "the host name \(host) does not resolve; check the name and DNS"
        case .exchange(let error): Self.text(of: error)
        case .http2WithoutTLS(let url):
            "--http2 negotiates HTTP/2 by TLS, but \(url) has none: give an https URL, or --http2-prior-knowledge"
        case .tooSlow(let seconds, let isOption):
            "no complete response within \(seconds) s\(isOption ? "; allow more time with --max-time SECONDS" : "")"
        case .tooLarge(let limit): "the response is larger than \(limit) bytes, the limit of fetch"
        case .unknownCoding(let coding):
            "the response has Content-Encoding: \(coding), which fetch does not support"
        case .noDictionaryOffered(let coding):
            "the response is coded in \(coding.token), but no dictionary was offered; this is a fault of the server"
        case .coding(let error): "cannot decode the response: \(error); its body was discarded"
        case .redirect(let location):
            "the response redirects to \(OutputFormat.plain(location)): expected an http or https URL"
        case .tooManyRedirects(let url):
            "more than \(Redirect.countMax) redirects; the last one led to \(url)"
        case .content(let why): why
        case .http2WithContent: "content (-d) goes by HTTP/1.1 only: give --http1.1 in place of HTTP/2"
        }
    }

    /// True if the command line is wrong; an error of TLS is about the file of --ca.
    var isUsage: Bool {
        switch self {
        case .notAURL, .tls, .http2WithoutTLS, .http2WithContent, .content: true
        default: false
        }
    }

    private static func text(of error: UpstreamError) -> String {
        switch error {
        case .connectFailed(let cause): "cannot connect: \(cause.text); check that the server is running"
        case .handshakeFailed(.refused(let why)) where why.contains("wrong version number"):
            "the TLS handshake failed: the server does not speak TLS at this port, but maybe http; give a URL with http://, or "
                + "the port for https"
        case .handshakeFailed(let cause): "the TLS handshake failed: \(cause.text); nothing was sent"
        case .connectTimeout: "cannot connect: the connection timed out; check that the server is running"
        case .stale, .closedBeforeHead: "the server closed the connection without a response"
        case .malformed(let cause): "the response is not valid HTTP: \(cause.text)"
        case .headTimeout, .idleTimeout: "the server sent nothing for too long"
        case .truncated: "the response was cut off; its body was discarded"
        case .http2(let failure): text(of: failure)
        }
    }

    private static func text(of failure: HTTP2Failure) -> String {
        switch failure {
        case .notSpoken:
            "the server does not speak HTTP/2 here; use --http1.1, or add h2 to the server's protocols"
        case .refused:
            "the server refused the request without processing it; try again, or with --http1.1"
        case .reset(let code):
            "the server reset the response (\(HTTP2Failure.name(ofCode: code))); its body was discarded; try again, or "
                + "with --http1.1"
        case .goAway(let code):
            "the server ended the connection (GOAWAY, \(HTTP2Failure.name(ofCode: code))) before the end of the response; "
                + "try again later, or with --http1.1"
        case .violation:
            "the response is not valid HTTP/2 (RFC 9113); its body was discarded; try --http1.1"
        }
    }
}
