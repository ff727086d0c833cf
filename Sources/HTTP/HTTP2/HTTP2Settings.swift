/// The sizes that an HTTP/2 connection begins with (RFC 9113 section 6.5.2).
struct HTTP2Settings: Sendable {
    /// The number of requests of one connection at a time.
    static let streamsMax = 100
    /// The bytes of a request's body that may be on their way.
    var streamWindow: UInt32 = 64 * 1024
    /// The bytes of all requests' bodies that may be on their way; each is consumed as soon as it has come.
    ///
    /// So nothing but the windows of the streams bounds what is held for upstreams that do not read, as over HTTP/1.1: each
    /// such request has a place, or waits for one.
    var connectionWindow = 512 * 1024
    /// The bytes of a decoded header section, 32 more for each field.
    var fieldBytesMax: Int

    init(_ limits: MessageLimits) { fieldBytesMax = RequestAssembler.fieldBytesMax(limits) }

    /// Returns what a field costs of a limit: its bytes, and 32 more (RFC 9113 section 6.5.2).
    static func cost(ofField name: Span<UInt8>, _ value: Span<UInt8>) -> Int { name.count + value.count + 32 }

    /// The SETTINGS frame; `NO_RFC7540_PRIORITIES` counts in the first one only (RFC 9218 section 2.1).
    var entries: [(id: UInt16, value: UInt32)] {
        [
            (Self.maxConcurrentStreams, UInt32(Self.streamsMax)), (Self.initialWindowSize, streamWindow),
            (Self.maxHeaderListSize, UInt32(fieldBytesMax)), (Self.enableConnectProtocol, 1),
            (Self.noRFC7540Priorities, 1),
        ]
    }

    /// The bytes of a response that may be on their way to a client.
    static let clientWindow = 1 << 20

    /// The SETTINGS frame of a client that takes no pushes.
    static func clientEntries(fieldBytesMax: Int) -> [(id: UInt16, value: UInt32)] {
        [
            (enablePush, 0), (initialWindowSize, UInt32(clientWindow)),
            (maxHeaderListSize, UInt32(fieldBytesMax)),
        ]
    }

    private static let enablePush: UInt16 = 2
    private static let maxConcurrentStreams: UInt16 = 3
    private static let initialWindowSize: UInt16 = 4
    private static let maxHeaderListSize: UInt16 = 6
    /// RFC 8441 section 3.
    private static let enableConnectProtocol: UInt16 = 8
    private static let noRFC7540Priorities: UInt16 = 9
}

/// An error code (RFC 9113 section 7).
enum HTTP2Error: UInt32, Sendable {
    case noError = 0
    case protocolError, internalError, flowControlError, settingsTimeout, streamClosed, frameSizeError
    case refusedStream, cancel, compressionError, connectError, enhanceYourCalm, inadequateSecurity
    case http11Required
}
