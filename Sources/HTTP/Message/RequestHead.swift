/// The head of a request.
package struct RequestHead: Sendable {
    /// The method.
    package var method: Method
    /// The target, as received.
    package var target: RequestTarget
    /// The version that the client speaks.
    package var version: Version
    /// The fields.
    package var headers: Headers

    /// Puts a head together.
    package init(
        method: Method, target: RequestTarget, version: Version = .http11, headers: Headers = Headers()
    ) {
        self.method = method
        self.target = target
        self.version = version
        self.headers = headers
    }

    /// The host, and the port if given, that the request is for, in lower case; nil in HTTP/1.0 without Host.
    ///
    /// The target's own authority wins over Host (RFC 9112 section 3.2.2).
    package var authority: String? {
        if let authority = target.authority { return authority }
        var normalized: String?
        headers.forEachValue(of: .host) { value in
            if normalized == nil { normalized = Authority(value)?.normalized(value) }
        }
        return normalized
    }

    /// Whether it may be answered before the TLS handshake is whole, when it may be somebody's copy (RFC 8470 section 4).
    ///
    /// It asks for no change, has no content, and does not change the protocol.
    package var mayBeEarly: Bool {
        guard method == .get || method == .head || method == .options else { return false }
        return !headers.contains(.contentLength) && !headers.contains(.transferEncoding)
            && !headers.contains(.upgrade)
    }
}
