internal import Dictionaries
internal import HTTP

extension StoreEvent {
    /// What an operator is told when it changes whether requests go to an upstream.
    static func change(
        _ change: EndpointHealth.Change, of server: UpstreamServer, because error: UpstreamError? = nil
    ) -> StoreEvent {
        switch change {
        case .ejected(let milliseconds, let failures):
            let why = error.map { " (\($0.reason))" } ?? ""
            return .warning(
                """
                upstream \(server.text) failed \(failures) times in a row\(why): \
                others are asked before it for \(Quantity.duration.text(of: Int(milliseconds)))
                """)
        case .readmitted: return .info("upstream \(server.text) answers again")
        case .checkedOut:
            return .warning(
                "upstream \(server.text) does not pass its health check: others are asked before it")
        case .checkedIn: return .info("upstream \(server.text) passes its health check")
        }
    }
}

extension UpstreamError {
    /// What has happened, for a log.
    fileprivate var reason: String {
        switch self {
        case .connectFailed(let error): error.text.lowercased()
        case .handshakeFailed(let failure): failure.text
        case .connectTimeout: "no connection in time"
        case .headTimeout: "no answer in time"
        case .malformed: "a malformed answer"
        case .stale, .closedBeforeHead, .truncated: "closed the connection before an answer"
        case .idleTimeout: "reads nothing"
        }
    }
}
