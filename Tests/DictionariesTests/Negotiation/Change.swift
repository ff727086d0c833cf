internal import Dictionaries
internal import Testing

/// The plainest exchange that a delta is sent for, with one thing changed.
struct Exchange {
    var request = Facts.request()
    var response = Facts.response()
    var route = Facts.RouteDraft()

    init(_ change: Change) { change.apply(&self) }
}

/// One thing changed in an exchange, and the reason that it must be answered with.
struct Change: Sendable {
    let reason: Reason
    let apply: @Sendable (inout Exchange) -> Void

    init(_ reason: Reason = .delta, _ apply: @escaping @Sendable (inout Exchange) -> Void) {
        self.reason = reason
        self.apply = apply
    }
}
