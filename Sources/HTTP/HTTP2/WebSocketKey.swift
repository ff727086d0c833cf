internal import Primitives

/// The handshake of WebSocket towards an HTTP/1.1 upstream, which HTTP/2 does without (RFC 6455 section 1.3, RFC 8441
/// section 5.1).
enum WebSocketKey {
    /// Makes a key, which only has to differ from one connection to the next.
    static func make() -> String {
        let bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        return Base64.encode(bytes)
    }

    /// Returns the Sec-WebSocket-Accept that proves that the upstream has understood the key.
    static func accept(_ key: String) -> String {
        Base64.encode(TLSDigest.sha1(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
    }
}

extension HeaderName {
    static let secWebSocketKey = HeaderName(token: "sec-websocket-key".utf8.span)
    static let secWebSocketAccept = HeaderName(token: "sec-websocket-accept".utf8.span)
}
