internal import Dictionaries
internal import HTTP

/// The facts of a finished request, for the access log and the counters.
struct RequestRecord: Sendable {
    /// The arrival time of the head, in microseconds since 1970.
    var timeMicroseconds = 0
    /// The version of HTTP that the client speaks; nil if no request came.
    var version: HTTPVersion?
    /// The status sent, or 0 if none was sent.
    var status = 0
    /// The bytes of the response body as sent, without framing.
    var bodyBytesSent = 0
    /// The bytes of the response body before coding.
    var bodyBytesBefore = 0
    /// All bytes given to the client's connection, including heads and framing.
    ///
    /// In HTTP/2 these are the fields before HPACK and the bodies, without the heads of frames. TLS adds its own.
    var wireBytesSent = 0
    var coding = ContentCoding.identity
    /// The time that encoders spent on the body.
    var codingNanoseconds = 0
    var reason: Reason?
    /// The position of the route's match in `RouteNames`, or nil if no route matched.
    var routeIndex: Int?
    /// True if the request has Sec-Fetch-Site, which every browser adds over a secure transport.
    var isFromBrowser = false
    /// True if the route is private, so that the target may be personal.
    var isPrivate = false
    /// The time from the request's head until the last byte of the response was handed to the connection.
    ///
    /// `Exchange.account` measures it. The connection may still have bytes to send then.
    var durationMicroseconds = 0
    /// The time from the request's head to the head of the response; 0 if none was sent.
    var headMicroseconds = 0
    /// The time from the request's head to the head of the upstream's response, retries included.
    var upstreamMicroseconds: Int?
    /// The part of it that the last try took.
    var tryMicroseconds = 0
    /// The row of the upstream's times in the metrics.
    var upstreamRow = 0
    var upstreamStatus: Int?
    /// The address that was asked last.
    var upstream: LoggedUpstream?
    var fault: RequestFault?
    var revalidation: RevalidationResult?
    var experiment = ExperimentPlace.none
    /// True if the complete response was handed to the connection.
    var isComplete = true
    var requestID: [UInt8]?
    /// The facts that only the log needs; nil without one.
    var description: RequestDescription?

    /// True if the upstream or Dictum itself failed the request.
    var isFailure: Bool { status >= 500 || fault?.isClients == false }
}

struct RequestFault: Sendable {
    let text: String
    /// True for faults of the client, which anybody can cause.
    let isClients: Bool
    let isUpstreams: Bool

    static func client(_ text: String) -> RequestFault { RequestFault(text: text, isClients: true) }
    static func upstream(_ text: String) -> RequestFault {
        RequestFault(text: text, isClients: false, isUpstreams: true)
    }
    /// A fault of Dictum itself, such as a lack of memory.
    static func own(_ text: String) -> RequestFault { RequestFault(text: text, isClients: false) }

    /// The fault of a request that Dictum has refused.
    init(_ reason: RejectionReason) { self = .client(reason.rawValue) }

    /// The fault of a client that was lost.
    init(_ cause: ClientLoss, isUploaded: Bool) {
        switch cause {
        case .closed: self = .client("client closed the connection or reset the stream")
        case .timedOut: self.init(isUploaded ? .answerTimeout : .bodyTimeout)
        case .stopped: self = .own("stopped before the end of the response")
        }
    }

    private init(text: String, isClients: Bool, isUpstreams: Bool = false) {
        (self.text, self.isClients, self.isUpstreams) = (text, isClients, isUpstreams)
    }
}

/// The facts of a request that only the access log needs; one object, so that a record holds one reference.
final class RequestDescription: Sendable {
    /// The client's address in text form.
    let client: [UInt8]
    /// The address of the trusted proxy that named the client, or nil if the client is connected directly.
    let forwarder: [UInt8]?
    /// The method; empty if no request came.
    let method: [UInt8]
    /// The request target as received, including its query.
    let target: [UInt8]
    /// The host, and the port if given, that the request is for.
    let host: [UInt8]?
    let userAgent: [UInt8]?
    let referer: [UInt8]?
    /// The trace identifier from the request's traceparent, if any.
    let traceID: [UInt8]?

    init(
        client: [UInt8] = [], forwarder: [UInt8]? = nil, method: [UInt8] = [], target: [UInt8] = [],
        host: [UInt8]? = nil, userAgent: [UInt8]? = nil, referer: [UInt8]? = nil, traceID: [UInt8]? = nil
    ) {
        (self.client, self.forwarder, self.method, self.target) = (client, forwarder, method, target)
        (self.host, self.userAgent, self.referer, self.traceID) = (host, userAgent, referer, traceID)
    }

    static let none = RequestDescription()
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

enum ExperimentArm: String, CaseIterable, Sendable {
    /// With dictionaries.
    case treated
    /// Without.
    case heldOut = "held-out"
}

/// The place of a client in the experiment; two bytes, since each record of a request has one.
struct ExperimentPlace: Sendable, Equatable {
    /// The number of units, a power of two; if there are fewer clients, most have a unit of their own.
    static let unitCount = 1024
    /// The place of requests that take no part.
    static let none = ExperimentPlace(code: 0)

    /// 0 for none; 2 × unit + 1 for a client with dictionaries, and 2 × unit + 2 for one that is held out.
    private let code: UInt16

    private init(code: UInt16) { self.code = code }

    /// Assigns a client by its number, of which one half decides about the arm and the other about the unit.
    init(number: UInt64, holdout: Double) {
        let share = Double(number >> 32) / Double(UInt64(1) << 32)
        let unit = UInt16(number & UInt64(Self.unitCount - 1))
        self.init(code: 2 * unit + (share < holdout ? 2 : 1))
    }

    /// The side of the client; nil if it takes no part.
    var arm: ExperimentArm? { code == 0 ? nil : code & 1 == 0 ? .heldOut : .treated }

    /// The group of clients that counts as one unit.
    var unit: Int { max(0, Int(code) - 1) / 2 }
}
