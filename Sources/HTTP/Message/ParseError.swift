/// A fault of a received message; its texts repeat nothing of the message.
package enum ParseError: String, Error, Equatable, Sendable, CaseIterable {
    case bareLineFeed = "bare-lf"
    case bareCarriageReturn = "bare-cr"
    case controlByte = "control-byte"
    case malformedMethod = "method"
    case malformedTarget = "target"
    case targetTooLong = "target-too-long"
    case malformedVersion = "version"
    case unsupportedVersion = "version-unsupported"
    case malformedStatusLine = "status-line"
    case malformedFieldName = "field-name"
    case foldedField = "folded-field"
    case disguisedFramingField = "disguised-framing-field"
    case disguisedForwardingField = "disguised-forwarding-field"
    case headTooLarge = "head-too-large"
    case tooManyFields = "too-many-fields"
    case missingHost = "host-missing"
    case repeatedHost = "host-repeated"
    case malformedHost = "host"
    case malformedContentLength = "content-length"
    case repeatedContentLength = "content-length-repeated"
    case ambiguousFraming = "ambiguous-framing"
    case malformedTransferEncoding = "transfer-encoding"
    case unsupportedTransferEncoding = "transfer-encoding-unsupported"
    case transferEncodingBeforeHTTP11 = "transfer-encoding-in-http-1.0"
    case unsupportedExpectation = "expectation"
    case malformedChunkSize = "chunk-size"
    case malformedChunkExtension = "chunk-extension"
    case chunkExtensionTooLong = "chunk-extension-too-long"
    case malformedChunkEnd = "chunk-end"
    case trailersTooLarge = "trailers-too-large"
    case unexpectedInterim = "interim"
    case malformedStream = "http2-request"

    /// The status of the response to a request with this fault; a response with any fault becomes a 502.
    package var status: Status {
        switch self {
        case .targetTooLong: .uriTooLong
        case .headTooLarge, .tooManyFields, .trailersTooLarge: .requestHeaderFieldsTooLarge
        case .unsupportedVersion: .httpVersionNotSupported
        case .unsupportedTransferEncoding: .notImplemented
        case .unsupportedExpectation: .expectationFailed
        default: .badRequest
        }
    }

    /// The fault in words, for the response and the log.
    package var text: String {
        switch self {
        case .bareLineFeed: "a line ends in LF without CR"
        case .bareCarriageReturn: "a CR is not followed by LF"
        case .controlByte: "a control byte in the head"
        case .malformedMethod: "the method is not a token of at most 32 bytes"
        case .malformedTarget: "the request target is malformed"
        case .targetTooLong: "the request target is too long"
        case .malformedVersion: "the request line does not end in an HTTP version"
        case .unsupportedVersion: "the HTTP version is not supported"
        case .malformedStatusLine: "the status line is malformed"
        case .malformedFieldName: "a field line does not begin with a token and a colon"
        case .foldedField: "a field is folded over several lines"
        case .disguisedFramingField: "a field name resembles Content-Length or Transfer-Encoding"
        case .disguisedForwardingField: "a field name resembles X-Forwarded-For, -Proto, -Host or Forwarded"
        case .headTooLarge: "the head is too large"
        case .tooManyFields: "the head has too many fields"
        case .missingHost: "the Host field is missing"
        case .repeatedHost: "there is more than one Host field"
        case .malformedHost: "the host is malformed"
        case .malformedContentLength: "Content-Length is not a plain number of at most 18 digits"
        case .repeatedContentLength: "there is more than one Content-Length"
        case .ambiguousFraming: "Content-Length and Transfer-Encoding stand together"
        case .malformedTransferEncoding: "Transfer-Encoding does not end in exactly one chunked"
        case .unsupportedTransferEncoding: "the transfer coding is not supported"
        case .transferEncodingBeforeHTTP11: "Transfer-Encoding in an HTTP/1.0 message"
        case .unsupportedExpectation: "the expectation is not supported"
        case .malformedChunkSize: "a chunk size is not a number of at most 15 hexadecimal digits"
        case .malformedChunkExtension: "a chunk extension is malformed"
        case .chunkExtensionTooLong: "the chunk extensions are too long"
        case .malformedChunkEnd: "the data of a chunk is not followed by CRLF"
        case .trailersTooLarge: "the trailer section is too large"
        case .malformedStream: "an HTTP/2 request is malformed (RFC 9113 section 8.1.1)"
        case .unexpectedInterim: "an interim response that was not asked for, or too many of them"
        }
    }
}
