/// What a loop calls.
///
/// All calls come on the loop, none from within another call of the same handler.
package protocol Handler: AnyObject {
    /// The descriptor is ready as `events` say, edge by edge: what is not taken now is not reported again.
    func ready(_ events: Readiness, _ core: EventLoop.Core)
    /// Asked for with `attend`: work put off to the end of a batch.
    func attend(_ core: EventLoop.Core)
    /// The deadline has passed; none is set any more.
    func expired(_ core: EventLoop.Core)
}

extension Handler {
    package func ready(_ events: Readiness, _ core: EventLoop.Core) {}
    package func attend(_ core: EventLoop.Core) {}
    package func expired(_ core: EventLoop.Core) {}
}
