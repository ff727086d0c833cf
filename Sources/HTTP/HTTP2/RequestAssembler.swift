internal import Primitives

/// Collects the fields of one HTTP/2 request and translates them into a request head (RFC 9113 section 8.3).
///
/// Pure. nghttp2 has checked names and values, the order and number of pseudo-fields, and that no field belongs to an
/// HTTP/1.1 connection; what is checked here are the rules that go beyond, the same as for HTTP/1.1.
struct RequestAssembler: Sendable {
    /// A request that asks for another protocol on its stream (RFC 8441).
    struct ExtendedConnect: Equatable, Sendable {
        let protocolName: String
        /// The Sec-WebSocket-Key for the upstream; nil for other protocols.
        let webSocketKey: String?
    }

    private let limits: MessageLimits
    private var method: Method?
    private var path = ""
    private var protocolName: [UInt8]?
    private var headers = Headers()
    private var hasHostField = false
    private var trailers = Headers()
    private var cookie: [UInt8]?
    private var fieldCount = 0
    /// The bytes of the names and values, 32 more for each field (RFC 9113 section 6.5.2).
    private(set) var fieldBytes = 0
    /// The first rule that the fields break.
    private(set) var error: ParseError?

    /// The bytes of a head's decoded fields, whatever the limit for HTTP/1.1 is.
    static func fieldBytesMax(_ limits: MessageLimits) -> Int { min(limits.headBytes, 64 * 1024) }

    init(limits: MessageLimits) {
        self.limits = limits
        // Most requests have less. With an array's own 32 bytes it is the most that the C library keeps at hand for its thread.
        headers.reserve(bytes: 992, lines: 32)
    }

    /// True if no response to the request may have a body, whether the request is valid or not.
    var isHead: Bool { method == .head }

    // MARK: Fields

    /// Adds a field of the request's head, or of its trailers.
    mutating func append(_ name: Span<UInt8>, _ value: Span<UInt8>, isTrailer: Bool) {
        // Also of a refused request: the connection pays for all that it has decoded.
        fieldBytes += HTTP2Settings.cost(ofField: name, value)
        guard error == nil else {
            // The response to a HEAD has no body, whatever was wrong before its method came.
            if method == nil, name.equals(":method") { method = Method(token: value.extracting(first: 5)) }
            return
        }
        let bytesMax = Self.fieldBytesMax(limits) + (isTrailer ? limits.trailerBytes : 0)
        guard fieldBytes <= bytesMax else { return fail(isTrailer ? .trailersTooLarge : .headTooLarge) }
        if !name.isEmpty, name[0] == ASCII.colon { return appendPseudo(name, value) }
        do {
            let field = HeaderName(token: name)
            if field.id == 0 { try FieldSectionParser.checkUnlisted(name) }
            // Browsers send a field for each cookie.
            if field != .cookie || cookie == nil { fieldCount += 1 }
            guard fieldCount <= limits.fieldCount else { return fail(.tooManyFields) }
            if isTrailer {
                if !field.isForbiddenInTrailers { trailers.append(field, value) }
            } else if field == .cookie {
                appendCrumb(value)
            } else if field == .host {
                if hasHostField { return fail(.repeatedHost) }
                hasHostField = true
                appendHost(value)
            } else {
                headers.append(field, value)
            }
        } catch {
            fail(error)
        }
    }

    /// Returns the bytes of the fields, which count no more.
    mutating func giveBackFieldBytes() -> Int { exchange(&fieldBytes, with: 0) }

    /// Keeps nothing of a request that is refused, and only counts what still comes.
    mutating func forget() { fail(.headTooLarge) }

    private mutating func fail(_ error: ParseError) {
        self.error = error
        (headers, trailers, cookie) = (Headers(), Headers(), nil)
    }

    private mutating func appendPseudo(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        if name.equals(":method") {
            method = Method(token: value)
        } else if name.equals(":path") {
            guard value.count <= limits.requestTargetBytes else { return fail(.targetTooLong) }
            path = String(value)
        } else if name.equals(":authority") {
            appendHost(value)
        } else if name.equals(":protocol") {
            protocolName = [UInt8](copying: value)
        }
    }

    /// RFC 9113 section 8.3.1: `:authority` stands for Host, and the two must not differ.
    private mutating func appendHost(_ value: Span<UInt8>) {
        guard let host = Authority(value) else { return fail(.malformedHost) }
        guard headers.contains(.host) else { return headers.append(.host, value) }
        var isOther = false
        headers.forEachValue(of: .host) { isOther = Authority($0)?.normalized($0) != host.normalized(value) }
        if isOther { fail(.malformedHost) }
    }

    /// RFC 9113 section 8.2.3: the crumbs of a cookie are joined by a semicolon and a blank.
    private mutating func appendCrumb(_ value: Span<UInt8>) {
        // Taken out, since a copy for each of many crumbs would be long.
        var joined = exchange(&cookie, with: nil) ?? []
        if !joined.isEmpty { joined.append("; ") }
        joined.append(value)
        cookie = joined
    }

    // MARK: The head

    /// Makes the request's head, and how its body is framed towards the upstream.
    ///
    /// `makeKey` makes a Sec-WebSocket-Key for a request that asks for WebSocket.
    mutating func finish(hasBody: Bool, makeKey: () -> String = WebSocketKey.make) throws(ParseError) -> (
        head: RequestHead, framing: BodyFraming, extended: ExtendedConnect?
    ) {
        if let error { throw error }
        let extended = protocolName.map { name in
            let isWebSocket = String(name.span).lowercased() == "websocket"
            return ExtendedConnect(
                protocolName: String(name.span), webSocketKey: isWebSocket ? makeKey() : nil)
        }
        guard let named = self.method else { throw .malformedMethod }
        // An extended CONNECT names a path, as a GET with Upgrade does in HTTP/1.1 (RFC 8441 section 5).
        let method = extended == nil ? named : .get
        let target =
            method == .connect
            ? try RequestTarget(headers.first(.host) ?? "", method: method)
            : try RequestTarget(path, method: method)
        path = ""
        guard target.form != .absolute else { throw .malformedTarget }
        guard headers.contains(.host) else { throw .missingHost }
        var head = RequestHead(
            method: method, target: target, version: .http2, headers: exchange(&headers, with: Headers()))
        if let cookie = cookie.take() { head.headers.append(.cookie, cookie) }
        if let extended { Self.appendUpgrade(extended, to: &head.headers) }
        let framing = try framing(of: &head, hasBody: hasBody && extended == nil)
        return (head, framing, extended)
    }

    private func framing(of head: inout RequestHead, hasBody: Bool) throws(ParseError) -> BodyFraming {
        let declared = try BodyFraming.ofRequest(head)
        guard !hasBody else { return declared == .none ? .chunked : declared }
        // nghttp2 compares the length with the DATA that comes; here it is the end of the HEADERS that counts.
        guard declared == .none || declared == .length(0) else { throw .malformedContentLength }
        guard declared == .none else { return declared }
        // RFC 9110 section 8.6: a method with content says that there is none.
        switch head.method {
        case .post, .put, .patch, .query:
            head.headers.append(.contentLength, "0")
            return .length(0)
        default: return .none
        }
    }

    private static func appendUpgrade(_ extended: ExtendedConnect, to headers: inout Headers) {
        headers.append(.connection, "Upgrade")
        headers.append(.upgrade, extended.protocolName)
        guard let key = extended.webSocketKey else { return }
        headers.remove(.secWebSocketKey)
        headers.append(.secWebSocketKey, key)
    }

    /// The request's trailers, as far as they may be passed on.
    func finishTrailers() throws(ParseError) -> Headers {
        if let error { throw error }
        return trailers
    }
}
