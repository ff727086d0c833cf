internal import Primitives

/// The fields of a message as HTTP/2 sends them: names in lower case, pseudo-fields first.
struct FieldBlock: Sendable {
    /// The place of one field in the bytes: its name, then its value.
    struct Field: Sendable {
        let start: Int
        let nameEnd: Int
        let end: Int
        /// True if the field must not enter the compression's table (RFC 7541 section 7.1.3).
        let isSensitive: Bool
    }

    private(set) var bytes: [UInt8] = []
    private(set) var fields: [Field] = []

    /// The head of a response, without the fields that belong to an HTTP/1.1 connection (RFC 9113 section 8.2.2).
    init(_ head: borrowing ResponseHead) {
        bytes.reserveCapacity(512)
        fields.reserveCapacity(24)
        append(":status") { $0.append(decimal: UInt64(head.status.rawValue)) }
        append(head.headers)
    }

    /// The head of a request, whose Host becomes `:authority` (RFC 9113 section 8.3.1).
    init(_ head: borrowing RequestHead, scheme: StaticString) {
        bytes.reserveCapacity(512)
        append(":method") { $0.append(contentsOf: head.method.text.utf8) }
        append(":scheme") { $0.append(scheme) }
        head.headers.forEachValue(of: .host) { host in append(":authority") { $0.append(host) } }
        append(":path") { head.target.writePathAndQuery(into: &$0) }
        append(head.headers, outside: Self.connectionFieldsAndHost)
    }

    init(trailers: borrowing Headers) { append(trailers) }

    var isEmpty: Bool { fields.isEmpty }

    private mutating func append(_ name: StaticString, _ value: (inout [UInt8]) -> Void) {
        let start = bytes.count
        bytes.append(name)
        let nameEnd = bytes.count
        value(&bytes)
        fields.append(Field(start: start, nameEnd: nameEnd, end: bytes.count, isSensitive: false))
    }

    private mutating func append(
        _ headers: borrowing Headers, outside names: HeaderNameSet = Self.connectionFields
    ) {
        headers.forEachLine(outside: names) { name, value, isSensitive in
            let start = bytes.count
            bytes.append(lowercasing: name)
            let nameEnd = bytes.count
            bytes.append(value)
            fields.append(Field(start: start, nameEnd: nameEnd, end: bytes.count, isSensitive: isSensitive))
        }
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

extension Headers {
    private static let sensitiveFields: [UInt8] = [
        HeaderName.setCookie.id, HeaderName.cookie.id, HeaderName.authorization.id,
    ]

    /// Calls `body` with each line whose name is not in the set, and says of each whether it identifies a user.
    fileprivate func forEachLine(
        outside names: HeaderNameSet, _ body: (Span<UInt8>, Span<UInt8>, Bool) -> Void
    ) {
        let bytes = block.span
        for line in lines where !names.contains(line, of: bytes) {
            body(
                bytes.extracting(line.name), bytes.extracting(line.value),
                Self.sensitiveFields.contains(line.id))
        }
    }
}
