/// Reads the heads of requests or responses from pieces of any size.
///
/// Every call gets all bytes of the message so far. The parser remembers how far it has read, so a head that
/// arrives byte by byte costs no more than a whole one. After an error it must be reset.
package struct HeadParser: Sendable {
    /// The number of bytes of the last whole head, including an empty line before it.
    package private(set) var consumed = 0
    private let limits: MessageLimits
    private var requestLineParser = RequestLineParser()
    private var statusLineParser = StatusLineParser()
    private var requestLine: RequestLine?
    private var statusLine: StatusLine?
    private var fields = FieldSectionParser()

    package init(limits: MessageLimits = MessageLimits()) { self.limits = limits }

    /// True once a byte of an incomplete request has come; an empty line before it is none (RFC 9112 section 2.2).
    var hasBegun: Bool { requestLineParser.hasBegun }

    /// Forgets an incomplete message.
    package mutating func reset() { self = HeadParser(limits: limits) }

    /// Reads a request's head; nil if more bytes are needed.
    ///
    /// Checks Host (RFC 9112 section 3.2) and makes it agree with an absolute target.
    package mutating func parseRequest(_ bytes: Span<UInt8>) throws(ParseError) -> RequestHead? {
        if requestLine == nil {
            guard let line = try requestLineParser.parse(bytes, limits) else { return nil }
            requestLine = line
            fields.begin(at: requestLineParser.position)
        }
        guard let headers = try parseFields(bytes, headStart: requestLineParser.start),
            let line = requestLine.take()
        else { return nil }
        requestLineParser = RequestLineParser()
        var head = RequestHead(
            method: line.method, target: line.target, version: line.version, headers: headers)
        try Self.settleHost(of: &head)
        return head
    }

    /// Reads a response's head; nil if more bytes are needed.
    package mutating func parseResponse(_ bytes: Span<UInt8>) throws(ParseError) -> ResponseHead? {
        if statusLine == nil {
            guard let line = try statusLineParser.parse(bytes, limits) else { return nil }
            statusLine = line
            fields.begin(at: statusLineParser.position)
        }
        guard let headers = try parseFields(bytes, headStart: 0), let line = statusLine.take() else {
            return nil
        }
        statusLineParser = StatusLineParser()
        return ResponseHead(status: line.status, version: line.version, reason: line.reason, headers: headers)
    }

    // The next message begins with its start line, which resets the parser of fields.
    private mutating func parseFields(_ bytes: Span<UInt8>, headStart: Int) throws(ParseError) -> Headers? {
        let headEnd = headStart + limits.headBytes
        let limit = min(bytes.count, headEnd)
        guard let end = try fields.parse(bytes, to: limit, fieldCount: limits.fieldCount) else {
            guard limit < headEnd else { throw .headTooLarge }
            return nil
        }
        consumed = end
        return fields.takeHeaders()
    }

    // RFC 9112 3.2: exactly one valid Host in HTTP/1.1. HTTP/1.0 may omit it.
    private static func settleHost(of head: inout RequestHead) throws(ParseError) {
        let hosts = head.headers.count(of: .host)
        guard hosts <= 1 else { throw .repeatedHost }
        guard hosts == 1 || head.version == .http10 else { throw .missingHost }
        var isValid = hosts == 0
        head.headers.forEachValue(of: .host) { isValid = Authority($0) != nil }
        guard isValid else { throw .malformedHost }
        // RFC 9112 3.2.2: an absolute target replaces the received Host.
        guard let authority = head.target.authority, head.headers.first(.host) != authority else { return }
        head.headers.replace(.host, with: authority)
    }
}
