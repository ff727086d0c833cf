package import Dictionaries

/// The facts of a finished request, for the access log and the counters.
package struct RequestRecord: Sendable {
    /// The arrival time of the head, in microseconds since 1970.
    package var timeMicroseconds = 0
    /// The client's address in text form.
    package var client: [UInt8] = []
    /// The address of the trusted proxy that named the client, or nil if the client is connected directly.
    package var forwarder: [UInt8]?
    package var method: [UInt8] = []
    /// The request target as received, including its query.
    package var target: [UInt8] = []
    /// The status sent, or 0 if none was sent.
    package var status = 0
    /// The bytes of the response body as sent, without framing.
    package var bodyBytesSent = 0
    /// The bytes of the response body before coding.
    package var bodyBytesBefore = 0
    /// All bytes written to the client, including heads and framing.
    package var wireBytesSent = 0
    /// The coding of the response.
    package var coding = ContentCoding.identity
    /// The reason for that coding.
    package var reason: Reason?
    /// The position of the route's match in `RouteNames`, or nil if no route matched.
    package var routeIndex: Int?
    /// True if the route is private, so that the target may be personal.
    package var isPrivate = false
    /// The time from the request's head to the last byte of the response.
    package var durationMicroseconds = 0
    /// The time from the upstream request to the head of its response.
    package var upstreamMicroseconds: Int?
    /// The status of the upstream's response.
    package var upstreamStatus: Int?
    /// The upstream that was asked last.
    package var upstream: [UInt8]?
    /// The reason why Dictum could not forward a complete response.
    package var error: [UInt8]?
    /// The result of revalidating a stored response with the upstream.
    package var revalidation: RevalidationResult?
    /// True if the client got the complete response.
    package var isComplete = true
    /// The request's identifier, if any.
    package var requestID: [UInt8]?
    /// The trace identifier from the request's traceparent, if any.
    package var traceID: [UInt8]?

    package init() {}
}
