internal import Primitives

/// The way in which a message's body ends (RFC 9112 section 6.3).
///
/// Read strictly: messages that two recipients could read differently are refused.
package enum BodyFraming: Equatable, Sendable {
    case none
    /// This many bytes.
    case length(UInt64)
    case chunked
    /// All bytes until the peer closes.
    ///
    /// Responses only.
    case untilClose

    package static func ofRequest(_ head: borrowing RequestHead) throws(ParseError) -> BodyFraming {
        let framing = try declared(by: head.headers, version: head.version) ?? .none
        // RFC 9110 8.6 allows leading zeros, but some recipients read them as octal, and no client sends them.
        guard !head.headers.isZeroPadded(.contentLength) else { throw .malformedContentLength }
        return framing
    }

    /// Returns the framing of the response to a request with this method; any error means a bad upstream.
    ///
    /// 1xx and 204 have no body whatever they declare, and a proxy drops their Content-Length and
    /// Transfer-Encoding. HEAD and 304 may declare the length of the body that they omit. 205 follows the
    /// common rules, although it must be empty (RFC 9110 section 15.3.6).
    package static func ofResponse(
        _ head: borrowing ResponseHead, toRequest method: Method
    ) throws(ParseError) -> BodyFraming {
        if head.status.isInformational || head.status == .noContent { return .none }
        // RFC 9112 6.3: a 2xx to CONNECT starts a tunnel and has no framing.
        if method == .connect, head.status.isSuccessful { return .none }
        let declared = try declared(by: head.headers, version: head.version)
        if method == .head || head.status == .notModified { return .none }
        return declared ?? .untilClose
    }

    /// True unless the message surely ends with its head.
    package var hasBody: Bool {
        switch self {
        case .none, .length(0): false
        default: true
        }
    }

    /// The number of bytes, where it is known.
    var length: UInt64? { if case .length(let count) = self { count } else { nil } }

    /// Makes a section declare this length, or none.
    ///
    /// A field that is right already stays in its place, as most are.
    static func declare(length: UInt64?, in headers: inout Headers) {
        if let length, isDeclared(length: length, by: headers) { return }
        headers.remove(.contentLength)
        if let length { headers.append(.contentLength, length) }
    }

    /// True if one Content-Length has this number, in as few digits as it takes.
    private static func isDeclared(length: UInt64, by headers: borrowing Headers) -> Bool {
        var (count, isEqual) = (0, false)
        headers.forEachValue(of: .contentLength) { value in
            count += 1
            isEqual = number(value) == length && (value.count == 1 || value[0] != 0x30)
        }
        return count == 1 && isEqual
    }

    private static func declared(
        by headers: borrowing Headers, version: HTTPVersion
    ) throws(ParseError) -> BodyFraming? {
        var (count, length) = (0, UInt64?.none)
        headers.forEachValue(of: .contentLength) { value in
            count += 1
            length = number(value)
        }
        if headers.contains(.transferEncoding) {
            // RFC 9112 6.1: both together may be an attempt at smuggling, and HTTP/1.0 does not know the
            // coding.
            guard count == 0 else { throw .ambiguousFraming }
            guard version >= .http11 else { throw .transferEncodingBeforeHTTP11 }
            try checkTransferEncoding(headers)
            return .chunked
        }
        guard count > 0 else { return nil }
        // RFC 9112 6.3 allows equal repetitions to be merged. Refusing them is simpler and safer.
        guard count == 1 else { throw .repeatedContentLength }
        guard let length else { throw .malformedContentLength }
        return .length(length)
    }

    // RFC 9110 8.6: Content-Length = 1*DIGIT; 18 digits always fit.
    private static func number(_ digits: Span<UInt8>) -> UInt64? {
        guard (1...18).contains(digits.count) else { return nil }
        var number: UInt64 = 0
        for index in digits.indices {
            guard ASCII.isDigit(digits[index]) else { return nil }
            number = number * 10 + UInt64(digits[index] - 0x30)
        }
        return number
    }

    // RFC 9112 6.1 and 7: chunked occurs once and last. Other transfer codings are not supported.
    private static func checkTransferEncoding(_ headers: borrowing Headers) throws(ParseError) {
        var codings = 0
        var chunked = 0
        var lastIsChunked = false
        var malformed = false
        headers.forEachValue(of: .transferEncoding) { value in
            forEachPart(of: value) { part in
                codings += 1
                lastIsChunked = part.equalsIgnoringCase("chunked")
                if lastIsChunked { chunked += 1 }
                if part.isEmpty { malformed = true }
                for index in part.indices where !ASCII.isToken(part[index]) { malformed = true }
            }
        }
        guard !malformed, lastIsChunked, chunked == 1 else { throw .malformedTransferEncoding }
        guard codings == 1 else { throw .unsupportedTransferEncoding }
    }

    // Stricter than `forEachListMember`: empty members count, and quotes protect nothing.
    private static func forEachPart(of value: Span<UInt8>, _ body: (Span<UInt8>) -> Void) {
        var start = 0
        for index in 0...value.count where index == value.count || value[index] == ASCII.comma {
            body(value.extracting(value.trimmedRange(start..<index)))
            start = index + 1
        }
    }
}
