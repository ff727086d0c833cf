/// An object that a loop calls.
///
/// All calls come on the loop, never from within another call of the same handler.
package protocol Handler: AnyObject {
    /// The descriptor is ready for `events`, edge-triggered: the loop does not repeat an event that is not
    /// handled.
    func ready(_ events: Readiness, _ core: EventLoop.Core)
    /// The attention that `EventLoop.Core.attend` asked for, at the end of a batch.
    func attend(_ core: EventLoop.Core)
    /// The deadline has passed and is removed.
    func expired(_ core: EventLoop.Core)
}

extension Handler {
    package func ready(_ events: Readiness, _ core: EventLoop.Core) {}
    package func attend(_ core: EventLoop.Core) {}
    package func expired(_ core: EventLoop.Core) {}
}
