internal import Dictionaries
internal import HTTP

extension StoreEvent {
    /// Describes a change of an upstream's health.
    static func change(
        _ change: EndpointHealth.Change, of server: UpstreamServer, isOnlyOne: Bool = false,
        because error: UpstreamError? = nil
    ) -> StoreEvent {
        switch change {
        case .ejected(let milliseconds, let failures):
            let why = error.map { " (\($0.logText))" } ?? ""
            let time = Quantity.duration.text(of: Int(milliseconds))
            let what = isOnlyOne ? "there is no other to ask" : "others are asked before it for \(time)"
            return .warning("upstream \(server.text) failed \(failures) times in a row\(why): \(what)")
        case .readmitted: return .info("upstream \(server.text) answers again")
        case .checkedOut:
            let what = isOnlyOne ? "there is no other to ask" : "others are asked before it"
            return .warning("upstream \(server.text) does not pass its health check: \(what)")
        case .checkedIn: return .info("upstream \(server.text) passes its health check")
        }
    }
}

extension StoreEvent {
    /// Describes a failed request; logged at most once a minute.
    static func failure(_ error: UpstreamError, of server: UpstreamServer, status: Status) -> StoreEvent {
        .warning(
            """
            upstream \(server.text): \(error.logText): a client got \(status.rawValue). The access log has each such \
            request; this warning comes at most once a minute
            """)
    }
}

extension UpstreamError {
    /// The description of the error for logs.
    var logText: String {
        switch self {
        case .connectFailed(let error): error.text.lowercased()
        case .handshakeFailed(let failure): "no TLS: \(failure.text)"
        case .connectTimeout: "no connection within upstream.connect_timeout"
        case .headTimeout: "no response within upstream.response_timeout"
        case .malformed(let error): "malformed response: \(error.text)"
        case .stale, .closedBeforeHead: "closed the connection before a response"
        case .truncated: "closed the connection before the end of the response"
        case .idleTimeout: "silent for upstream.idle_timeout"
        }
    }
}
