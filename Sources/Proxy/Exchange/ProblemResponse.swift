internal import Dictionaries
internal import HTTP

/// An error response that Dictum itself gives: RFC 9457 JSON for clients that accept it, else one line of text.
///
/// It says what the client can do, and nothing of the inside.
struct ProblemResponse {
    let status: Status
    /// One sentence for the client.
    let detail: String
    /// The seconds after which a client may ask again.
    var retryAfter: Int?
    /// The codings that bodies of requests may have here (RFC 9110 section 12.5.3).
    var acceptEncoding: String?

    /// Returns the head and the body for a client with this Accept field.
    func rendered(accept: String?) -> (head: ResponseHead, body: [UInt8]) {
        let title = status.reason
        var headers = Headers()
        let text: String
        if Self.prefersJSON(accept) {
            headers.append(.contentType, "application/problem+json")
            text =
                #"{"type":"about:blank","title":"\#(title)","status":\#(status.rawValue),"detail":"\#(Self.escaped(detail))"}"#
        } else {
            headers.append(.contentType, "text/plain; charset=utf-8")
            text = "\(status.rawValue) \(title): \(detail)"
        }
        headers.append(.cacheControl, "no-store")
        if let acceptEncoding { headers.append(.acceptEncoding, acceptEncoding) }
        if let retryAfter { headers.append(.retryAfter, String(retryAfter)) }
        return (ResponseHead(status: status, headers: headers), Array((text + "\n").utf8))
    }

    // A detail may quote what a client sent.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": escaped += "\\\(scalar)"
            case ..<" ": escaped += "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// Returns true if a client names JSON, or takes anything without asking for text.
    private static func prefersJSON(_ accept: String?) -> Bool {
        guard let accept = accept?.lowercased() else { return false }
        if accept.contains("json") { return true }
        return accept.contains("*/*") && !accept.contains("text/") || accept.contains("application/*")
    }
}

// MARK: - Problems

extension ProblemResponse {
    static let loop = ProblemResponse(
        status: .loopDetected,
        detail: "The request has been here before: an upstream of this server leads back to it.")
    static let unsupportedMethod = ProblemResponse(
        status: .notImplemented, detail: "The method is not supported.")
    static let noHost = ProblemResponse(status: .badRequest, detail: "The request names no host.")
    static let bodyTooLarge = ProblemResponse(
        status: .contentTooLarge, detail: "The request's body is too large.")
    static let undecodableRequest = ProblemResponse(
        status: .badRequest, detail: "The request's body is not in its content coding.")
    static let noSuchDictionary = ProblemResponse(status: .notFound, detail: "There is no such dictionary.")
    static let unreadableDictionary = ProblemResponse(
        status: .serviceUnavailable, detail: "The dictionary cannot be read for now; try again later.",
        retryAfter: 1)
    static let ambiguousPath = ProblemResponse(
        status: .badRequest,
        detail: "The path can be read in two ways; send it without dot segments and encoded slashes.")
    static let noRoute = ProblemResponse(
        status: .notFound, detail: "Nothing is served at this host and path.")
    static let noUpstream = ProblemResponse(
        status: .serviceUnavailable, detail: "There is no upstream to ask; try again later.")
    static let clientBusy = ProblemResponse(
        status: .serviceUnavailable,
        detail: "This client has too many requests under way; try again later.", retryAfter: 1)
    static let upstreamBusy = ProblemResponse(
        status: .serviceUnavailable, detail: "There are too many requests under way; try again later.",
        retryAfter: 1)
    static let undecodable = ProblemResponse(
        status: .badGateway, detail: "The upstream sent a body that is not in its coding.")

    /// The response to a body that is coded over a dictionary which the request may not use.
    ///
    /// `isOn` says that bodies over other dictionaries are accepted.
    static func unknownDictionary(isOn: Bool) -> ProblemResponse {
        ProblemResponse(
            status: .unsupportedMediaType,
            detail: "The dictionary of the request's body is unknown here; send the body without its coding.",
            acceptEncoding: isOn ? ContentCoding.dcz.token : ContentCoding.identity.token)
    }

    init(_ error: UpstreamError) {
        switch error {
        case .connectTimeout, .headTimeout, .idleTimeout:
            self.init(
                status: .gatewayTimeout, detail: "The upstream did not answer in time; try again later.")
        case .malformed, .http2:
            self.init(status: .badGateway, detail: "The upstream sent a malformed response.")
        case .connectFailed, .handshakeFailed:
            self.init(status: .badGateway, detail: "The upstream cannot be reached; try again later.")
        case .stale, .closedBeforeHead, .truncated:
            self.init(
                status: .badGateway,
                detail: "The upstream closed the connection before its response was whole.")
        }
    }

    /// The response to input that never became a request.
    init(_ refusal: Refusal) {
        switch refusal {
        case .malformed(let error):
            self.init(status: error.status, detail: "The request was refused: \(error.text).")
        case .headTimeout:
            self.init(status: .requestTimeout, detail: "The request did not arrive in time.")
        case .badProxyHeader:
            self.init(status: .badRequest, detail: "The connection has no valid PROXY protocol header.")
        case .tooManyConnectionsOfClient:
            self.init(
                status: .serviceUnavailable, detail: "This client has too many connections; close one first.")
        case .tooManyConnections:
            self.init(status: .serviceUnavailable, detail: "There are too many connections; try again later.")
        }
    }
}
