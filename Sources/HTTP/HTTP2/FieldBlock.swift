internal import Primitives

/// The fields of a message as HTTP/2 sends them, pseudo-fields first; nghttp2 makes their names small.
struct FieldBlock: Sendable {
    /// The fields; pseudo-fields stand behind all others, so that a message's own section can be used as it is.
    private var headers = Headers()
    private var pseudoCount = 0

    /// The head of a response, without the fields that belong to an HTTP/1.1 connection (RFC 9113 section 8.2.2).
    init(_ head: consuming ResponseHead) {
        let status = head.status.rawValue
        take(&head.headers, without: Self.connectionFields)
        append(":status", String(status))
    }

    /// The head of a request, whose Host becomes `:authority` (RFC 9113 section 8.3.1).
    init(_ head: consuming RequestHead, scheme: String) {
        let authority = head.headers.first(.host)
        take(&head.headers, without: Self.connectionFieldsAndHost)
        append(":method", head.method.text)
        append(":scheme", scheme)
        if let authority { append(":authority", authority) }
        append(":path", String(head.target.pathAndQuery.span))
    }

    init(trailers: consuming Headers) { take(&trailers, without: Self.connectionFields) }

    var isEmpty: Bool { headers.isEmpty }
    var count: Int { headers.count }
    var bytes: [UInt8] { headers.block }

    /// Calls `body` with each field in the order in which they are sent.
    func forEach(_ body: (Headers.Line) -> Void) {
        let first = headers.count - pseudoCount
        for line in headers.lines[first...] { body(line) }
        for line in headers.lines[..<first] { body(line) }
    }

    /// Takes the fields without a copy.
    private mutating func take(_ others: inout Headers, without names: HeaderNameSet) {
        swap(&headers, &others)
        headers.removeAll(names)
    }

    private mutating func append(_ name: String, _ value: String) {
        headers.append(id: 0, checkedName: name.utf8.span, value.utf8.span)
        pseudoCount += 1
    }

    private static let connectionFields: HeaderNameSet = [
        .connection, .keepAlive, .proxyConnection, .transferEncoding, .upgrade, .http2Settings, .te,
    ]
    private static let connectionFieldsAndHost = {
        var names = connectionFields
        names.insert(.host)
        return names
    }()
}

extension Headers.Line {
    /// True if the field identifies a user, and must not enter the compression's table (RFC 7541 section 7.1.3).
    var isSensitive: Bool {
        id == HeaderName.setCookie.id || id == HeaderName.cookie.id || id == HeaderName.authorization.id
    }
}
