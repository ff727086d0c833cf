/// A status code (RFC 9110 section 15); a received one is always 100 to 599.
package struct Status: RawRepresentable, Hashable, Comparable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static func < (left: Status, right: Status) -> Bool { left.rawValue < right.rawValue }

    /// True for 1xx: the final response follows.
    package var isInformational: Bool { rawValue / 100 == 1 }

    package var isSuccessful: Bool { rawValue / 100 == 2 }

    /// True if the response never has a body: 1xx, 204 and 304 (RFC 9112 section 6.3).
    package var isBodiless: Bool { isInformational || self == .noContent || self == .notModified }
}

/// The codes that the program uses.
extension Status {
    package static let `continue` = Status(rawValue: 100)
    package static let switchingProtocols = Status(rawValue: 101)
    package static let ok = Status(rawValue: 200)
    package static let noContent = Status(rawValue: 204)
    package static let movedPermanently = Status(rawValue: 301)
    package static let notModified = Status(rawValue: 304)
    package static let permanentRedirect = Status(rawValue: 308)
    package static let badRequest = Status(rawValue: 400)
    package static let unauthorized = Status(rawValue: 401)
    package static let forbidden = Status(rawValue: 403)
    package static let notFound = Status(rawValue: 404)
    package static let methodNotAllowed = Status(rawValue: 405)
    package static let requestTimeout = Status(rawValue: 408)
    package static let conflict = Status(rawValue: 409)
    package static let contentTooLarge = Status(rawValue: 413)
    package static let uriTooLong = Status(rawValue: 414)
    package static let unsupportedMediaType = Status(rawValue: 415)
    package static let expectationFailed = Status(rawValue: 417)
    package static let upgradeRequired = Status(rawValue: 426)
    package static let tooManyRequests = Status(rawValue: 429)
    package static let requestHeaderFieldsTooLarge = Status(rawValue: 431)
    package static let notImplemented = Status(rawValue: 501)
    package static let badGateway = Status(rawValue: 502)
    package static let serviceUnavailable = Status(rawValue: 503)
    package static let gatewayTimeout = Status(rawValue: 504)
    package static let httpVersionNotSupported = Status(rawValue: 505)
    package static let loopDetected = Status(rawValue: 508)
}

extension Status {
    /// The phrase registered with IANA for the code; empty for any other.
    package var reason: StaticString { Self.phrases[rawValue] ?? "" }

    /// The status line of HTTP/1.1 with that phrase and CRLF (RFC 9112 section 4); the blank before it stays if it is empty.
    var line: [UInt8] { Self.lines[Int(rawValue)] }

    /// The lines of all codes of three digits or less, so that none is put together for a response.
    private static let lines = (UInt16(0)..<1000).map { code in
        Array("HTTP/1.1 \(code) \(Status(rawValue: code).reason)\r\n".utf8)
    }

    private static let phrases: [UInt16: StaticString] = [
        100: "Continue",
        101: "Switching Protocols",
        102: "Processing",
        103: "Early Hints",
        200: "OK",
        201: "Created",
        202: "Accepted",
        203: "Non-Authoritative Information",
        204: "No Content",
        205: "Reset Content",
        206: "Partial Content",
        207: "Multi-Status",
        208: "Already Reported",
        226: "IM Used",
        300: "Multiple Choices",
        301: "Moved Permanently",
        302: "Found",
        303: "See Other",
        304: "Not Modified",
        305: "Use Proxy",
        307: "Temporary Redirect",
        308: "Permanent Redirect",
        400: "Bad Request",
        401: "Unauthorized",
        402: "Payment Required",
        403: "Forbidden",
        404: "Not Found",
        405: "Method Not Allowed",
        406: "Not Acceptable",
        407: "Proxy Authentication Required",
        408: "Request Timeout",
        409: "Conflict",
        410: "Gone",
        411: "Length Required",
        412: "Precondition Failed",
        413: "Content Too Large",
        414: "URI Too Long",
        415: "Unsupported Media Type",
        416: "Range Not Satisfiable",
        417: "Expectation Failed",
        421: "Misdirected Request",
        422: "Unprocessable Content",
        423: "Locked",
        424: "Failed Dependency",
        425: "Too Early",
        426: "Upgrade Required",
        428: "Precondition Required",
        429: "Too Many Requests",
        431: "Request Header Fields Too Large",
        451: "Unavailable For Legal Reasons",
        500: "Internal Server Error",
        501: "Not Implemented",
        502: "Bad Gateway",
        503: "Service Unavailable",
        504: "Gateway Timeout",
        505: "HTTP Version Not Supported",
        506: "Variant Also Negotiates",
        507: "Insufficient Storage",
        508: "Loop Detected",
        511: "Network Authentication Required",
    ]
}
