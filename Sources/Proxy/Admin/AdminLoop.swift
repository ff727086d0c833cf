internal import HTTP

/// The admin listener on its loop, through all its addresses.
final class AdminLoop: Handler {
    private let status: AdminStatus
    private let pulse: LoopPulse
    private var listener: Listener?
    /// Those that accept no more, and answer what they were asked.
    private var leaving: [Listener] = []

    init(status: AdminStatus, core: EventLoop.Core) {
        self.status = status
        pulse = LoopPulse(status.loops, core: core)
    }

    /// Where it accepts.
    var sockets: [ListeningSocket] { listener?.sockets ?? [] }

    /// Listens at the socket from now on, and no more at the one before; nil: nowhere.
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
