/// The sizes that an HTTP/2 connection begins with (RFC 9113 section 6.5.2).
enum HTTP2Settings {
    /// The number of requests of one connection at a time.
    static let streamsMax = 100
    /// The bytes of a request's body that may be on their way.
    static let streamWindow: UInt32 = 64 * 1024
    /// The bytes of all requests' bodies that may be on their way; each is consumed as soon as it has come.
    ///
    /// So nothing but the windows of the streams bounds what is held for upstreams that do not read, as over HTTP/1.1: each
    /// such request has a place, or waits for one.
    static let connectionWindow = 512 * 1024

    /// Returns what a field costs of a limit: its bytes, and 32 more (RFC 9113 section 6.5.2).
    static func cost(ofField name: Span<UInt8>, _ value: Span<UInt8>) -> Int { name.count + value.count + 32 }

    /// The bytes of a response that may be on their way to a client.
    static let clientWindow = 1 << 20
}

/// An error code (RFC 9113 section 7).
enum HTTP2Error: UInt32, Sendable {
    case noError = 0
    case protocolError, internalError, flowControlError, settingsTimeout, streamClosed, frameSizeError
    case refusedStream, cancel, compressionError, connectError, enhanceYourCalm, inadequateSecurity
    case http11Required
}
