/// One request's way to a server, in whatever version of HTTP.
///
/// Confined to its loop.
package protocol RequestStream: AnyObject {
    var version: HTTPVersion { get }
    /// The public key of the server's certificate (SubjectPublicKeyInfo in DER); nil without TLS.
    var peerKey: [UInt8]? { get }
    /// Sends a request without content.
    func begin(_ head: RequestHead, handler: any ResponseHandler)
    /// Gives up the exchange; the handler receives no further call.
    func abort()
}

/// A reason why no complete response came, which only HTTP/2 has.
package enum HTTP2Failure: Error, Equatable, Sendable {
    case notSpoken
    /// The server has refused the request unseen, and will serve none on this connection (RFC 9113 section 8.7).
    case refused
    /// The server has reset the stream, with this error code.
    case reset(UInt32)
    /// The server has ended the connection, with this error code.
    case goAway(UInt32)
    /// The server has broken a rule of RFC 9113.
    case violation

    /// Returns the name of an error code (RFC 9113 section 7).
    package static func name(ofCode code: UInt32) -> String {
        code < codeNames.count ? codeNames[Int(code)] : "error code \(code)"
    }

    private static let codeNames = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT",
        "STREAM_CLOSED", "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR",
        "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]
}

extension ClientConnection: RequestStream {
    package var version: HTTPVersion { .http11 }

    package func begin(_ head: RequestHead, handler: any ResponseHandler) {
        begin(head, framing: .none, handler: handler)
    }
}
