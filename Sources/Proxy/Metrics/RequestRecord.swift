internal import Dictionaries
internal import HTTP

/// The facts of a finished request, for the access log and the counters.
struct RequestRecord: Sendable {
    /// The arrival time of the head, in microseconds since 1970.
    var timeMicroseconds = 0
    /// The client's address in text form.
    var client: [UInt8] = []
    /// The address of the trusted proxy that named the client, or nil if the client is connected directly.
    var forwarder: [UInt8]?
    /// The version of HTTP that the client speaks; nil if no request came.
    var version: HTTPVersion?
    var method: [UInt8] = []
    /// The request target as received, including its query.
    var target: [UInt8] = []
    /// The status sent, or 0 if none was sent.
    var status = 0
    /// The bytes of the response body as sent, without framing.
    var bodyBytesSent = 0
    /// The bytes of the response body before coding.
    var bodyBytesBefore = 0
    /// All bytes written to the client, including heads and framing.
    var wireBytesSent = 0
    var coding = ContentCoding.identity
    var reason: Reason?
    /// The position of the route's match in `RouteNames`, or nil if no route matched.
    var routeIndex: Int?
    /// True if the route is private, so that the target may be personal.
    var isPrivate = false
    /// The time from the request's head until the last byte of the response was handed to the connection.
    ///
    /// `Exchange.account` measures it. Up to 96 KiB may still wait to be sent then.
    var durationMicroseconds = 0
    /// The time from the request's head to the head of the upstream's response, retries included.
    var upstreamMicroseconds: Int?
    var upstreamStatus: Int?
    /// The address that was asked last.
    var upstream: LoggedUpstream?
    /// The reason why Dictum could not forward a complete response.
    var error: [UInt8]?
    /// The result of revalidating a stored response with the upstream.
    var revalidation: RevalidationResult?
    /// True if the complete response was handed to the connection.
    var isComplete = true
    /// The request's identifier, if any.
    var requestID: [UInt8]?
    /// The trace identifier from the request's traceparent, if any.
    var traceID: [UInt8]?

    init() {}
}

/// An address of an upstream as the access log has it; made once, so that a record holds one reference.
final class LoggedUpstream: Sendable {
    /// The URL, and the address if the URL does not tell it.
    let address: [UInt8]
    /// The name of the upstream; nil without one.
    let name: [UInt8]?

    init(_ address: String, of name: String = "") {
        self.address = Array(address.utf8)
        self.name = name.isEmpty ? nil : Array(name.utf8)
    }
}
