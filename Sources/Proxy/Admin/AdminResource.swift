internal import HTTP

enum AdminResource: String, CaseIterable, Sendable {
    case page = "/"
    case health = "/healthz"
    case readiness = "/readyz"
    case metrics = "/metrics"
    case status = "/status"
    case routes = "/routes"
    case history = "/history"
    case chains = "/chains"
    case report = "/report"
    case configuration = "/config"
    case logLevel = "/log-level"
    case dictionaries = "/dictionaries"
    case dictionariesOff = "/dictionaries/off"
    case dictionariesOn = "/dictionaries/on"
    case purge = "/purge"

    /// True for resources that need no credentials: probes, and the page, which shows nothing by itself.
    var isOpen: Bool { self == .page || self == .health || self == .readiness }

    private var methods: (reads: [Method], changes: [Method]) {
        switch self {
        case .dictionariesOff, .dictionariesOn, .purge: ([], [.post])
        case .logLevel: ([.get, .head], [.put])
        default: ([.get, .head], [])
        }
    }

    var allow: String { (methods.reads + methods.changes).map(\.text).joined(separator: ", ") }

    /// Returns true if a request changes something, false if it reads; nil for other methods.
    func isChange(_ method: Method) -> Bool? {
        if methods.changes.contains(method) { return true }
        return methods.reads.contains(method) ? false : nil
    }

    static var listed: String {
        let paths = allCases.map(\.rawValue)
        return "There are " + paths.dropLast().joined(separator: ", ") + " and \(paths.last ?? "")."
    }
}
