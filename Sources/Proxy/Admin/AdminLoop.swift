internal import HTTP

/// The admin listener on its own loop.
final class AdminLoop: Handler {
    private let status: AdminStatus
    private let pulse: LoopPulse
    private var listener: Listener?
    /// Listeners that no longer accept but still finish their requests.
    private var leaving: [Listener] = []

    init(status: AdminStatus, core: EventLoop.Core) {
        self.status = status
        pulse = LoopPulse(status.loops, core: core)
    }

    /// The sockets at which it accepts.
    var sockets: [ListeningSocket] { listener?.sockets ?? [] }

    /// Listens at another socket from now on, or at none if it is nil, and stops accepting at the former one.
    func listen(at socket: ListeningSocket?, _ core: EventLoop.Core) {
        if let former = listener {
            leaving.append(former)
            former.stop(core) { [unowned self, unowned former] in leaving.removeAll { $0 === former } }
        }
        listener = socket.map { socket in
            var settings = ServerSettings()
            settings.connectionsMax = 64
            return Listener(
                sockets: [socket], application: AdminApplication(status: status, pulse: pulse, core: core),
                settings: settings, count: ConnectionCount())
        }
        listener?.start(on: core)
    }
}
