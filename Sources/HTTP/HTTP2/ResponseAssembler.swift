internal import Primitives

/// Collects the fields of one HTTP/2 response and translates them into heads and trailers (RFC 9113 section 8.3.2).
///
/// Pure. nghttp2 has checked names and values and the pseudo-field; what is checked here are the rules that go beyond,
/// the same as for HTTP/1.1.
struct ResponseAssembler: Sendable {
    private let limits: MessageLimits
    private var status: UInt16?
    private var headers = Headers()
    private var fieldCount = 0
    private var fieldBytes = 0

    init(limits: MessageLimits) { self.limits = limits }

    mutating func append(_ name: Span<UInt8>, _ value: Span<UInt8>, isTrailer: Bool) throws(ParseError) {
        fieldCount += 1
        fieldBytes += HTTP2Settings.cost(ofField: name, value)
        guard fieldCount <= (isTrailer ? limits.trailerCount : limits.fieldCount) else {
            throw .tooManyFields
        }
        guard fieldBytes <= (isTrailer ? limits.trailerBytes : limits.headBytes) else {
            throw isTrailer ? .trailersTooLarge : .headTooLarge
        }
        if name.equals(":status") { return status = UInt16(String(value)) }
        let field = HeaderName(token: name)
        if field.id == 0 { try FieldSectionParser.checkUnlisted(name) }
        if !isTrailer || !field.isForbiddenInTrailers { headers.append(field, value) }
    }

    /// Returns the head of an interim or final response, and begins the next section.
    mutating func finish() throws(ParseError) -> ResponseHead {
        guard let status, 100...599 ~= status else { throw .malformedStatusLine }
        let head = ResponseHead(status: Status(rawValue: status), version: .http2, headers: headers)
        self = ResponseAssembler(limits: limits)
        return head
    }

    mutating func finishTrailers() -> Headers {
        let trailers = headers
        self = ResponseAssembler(limits: limits)
        return trailers
    }
}
