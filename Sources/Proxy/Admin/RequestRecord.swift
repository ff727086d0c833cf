package import Dictionaries

/// What is known of a request once its answer is over: the line of the access log, and what the counters take.
package struct RequestRecord: Sendable {
    /// When the head had arrived, in microseconds since 1970.
    package var timeMicroseconds = 0
    /// The client's address in text form.
    package var client: [UInt8] = []
    /// The address of the trusted proxy that named the client; nil where the client itself is connected.
    package var forwarder: [UInt8]?
    /// The method.
    package var method: [UInt8] = []
    /// The request target as it arrived, with its query.
    package var target: [UInt8] = []
    /// The status that was sent; 0 if none was.
    package var status = 0
    /// The bytes of the answer's body as they went to the client, without framing.
    package var bodyBytesSent = 0
    /// The bytes of the answer's body before coding.
    package var bodyBytesBefore = 0
    /// Everything written to the client, heads and framing included.
    package var wireBytesSent = 0
    /// The coding of the answer.
    package var coding = ContentCoding.identity
    /// Why it is that one.
    package var reason: Reason?
    /// The place of the route's match among `RouteNames`; nil if the request came to none.
    package var routeIndex: Int?
    /// Whether its route is private, so that what is asked for there is the user's own.
    package var isPrivate = false
    /// From the head to the last byte of the answer.
    package var durationMicroseconds = 0
    /// From the request to the upstream to the head of its answer.
    package var upstreamMicroseconds: Int?
    /// The status of the upstream's answer.
    package var upstreamStatus: Int?
    /// The upstream that the request went to, or went to last.
    package var upstream: [UInt8]?
    /// Why Dictum could not pass on a whole response.
    package var error: [UInt8]?
    /// What came of asking the upstream about a stored answer.
    package var revalidation: RevalidationResult?
    /// Whether the answer went out whole.
    package var isComplete = true
    /// The request's identifier, if it has one.
    package var requestID: [UInt8]?
    /// The identifier of the trace it belongs to, if its traceparent names one.
    package var traceID: [UInt8]?

    /// An empty record.
    package init() {}
}
