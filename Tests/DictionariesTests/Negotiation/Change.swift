internal import Dictionaries
internal import Testing

/// The plainest exchange with a delta, with one fact changed.
struct Exchange {
    var request = Facts.request()
    var response = Facts.response()
    var route = Facts.RouteDraft()

    init(_ change: Change) { change.apply(&self) }
}

/// One changed fact of an exchange, and the reason that it must lead to.
struct Change: Sendable {
    let reason: Reason
    let apply: @Sendable (inout Exchange) -> Void

    init(_ reason: Reason = .delta, _ apply: @escaping @Sendable (inout Exchange) -> Void) {
        self.reason = reason
        self.apply = apply
    }
}
