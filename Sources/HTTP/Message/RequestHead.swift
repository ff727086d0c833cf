/// The head of a request.
package struct RequestHead: Sendable {
    package var method: Method
    /// The request target as received.
    package var target: RequestTarget
    /// The client's version.
    package var version: Version
    package var headers: Headers

    package init(
        method: Method, target: RequestTarget, version: Version = .http11, headers: Headers = Headers()
    ) {
        self.method = method
        self.target = target
        self.version = version
        self.headers = headers
    }

    /// The host and optional port that the request is for, in lower case; nil in HTTP/1.0 without Host.
    ///
    /// The authority of an absolute target replaces Host (RFC 9112 section 3.2.2).
    package var authority: String? {
        if let authority = target.authority { return authority }
        var normalized: String?
        headers.forEachValue(of: .host) { value in
            if normalized == nil { normalized = Authority(value)?.normalized(value) }
        }
        return normalized
    }

    /// True if a response may be sent before the TLS handshake is complete, when the request may be a replay
    /// (RFC 8470 section 4).
    ///
    /// Such a request asks for no change, has no content, and does not change the protocol.
    package var mayBeEarly: Bool {
        guard method == .get || method == .head || method == .options else { return false }
        return !headers.contains(.contentLength) && !headers.contains(.transferEncoding)
            && !headers.contains(.upgrade)
    }
}
