/// The time limits of a connection to an upstream.
extension ClientConnection {
    package func expired(_ core: EventLoop.Core) {
        // A request may have taken the idle connection in this turn of the loop.
        guard let deadline, deadline <= core.now else { return updateDeadline() }
        switch state.phase {
        case .connecting: connectAgain()
        case .idle: close()
        case .awaitingHead, .body:
            // No event reports that the system's large buffer drains, so ask before the upstream is blamed.
            if noteTaken() { return updateDeadline() }
            let awaitsHead = state.phase != .body && isRequestSent
            lose(awaitsHead ? .headTimeout : .idleTimeout)
        case .closed: break
        }
    }

    private func connectAgain() {
        do throws(UpstreamError) {
            try connecting?.tryAgain(for: io.token, core)
            updateDeadline()
        } catch {
            lose(error)
        }
    }

    /// Returns true if the upstream has taken more of its request since the last look, and more is left for it.
    private func noteTaken() -> Bool {
        guard let transport = io.transport, transport.unacknowledgedBytes > 0 else { return false }
        let taken = io.output.takenBytes(from: transport)
        guard taken > io.takenBytes else { return false }
        io.takenBytes = taken
        phaseBegan = core.now
        io.lastWrite = core.now
        return true
    }

    func restartBodyPace() {
        io.bodyPace?.restart(at: core.now, settings.pace)
    }

    func updateDeadline() {
        guard isAlive else { return }
        core.setDeadline(io.token, deadline)
    }

    private var deadline: Int64? {
        switch state.phase {
        case .connecting: connecting?.due
        case .idle: phaseBegan + settings.keepAliveTimeout
        case .awaitingHead where isRequestSent: phaseBegan + settings.responseTimeout
        // A slow request body is its sender's fault, which the server's side watches.
        case .awaitingHead: io.output.isEmpty ? nil : idleDeadline
        // The server's side limits the silence of a tunnel, because it sees the bytes of both directions.
        case .body where state.isTunnel: io.output.isEmpty ? nil : idleDeadline
        case .body: state.isPaused ? nil : io.bodyPace?.deadline ?? idleDeadline
        case .closed: nil
        }
    }

    private var isRequestSent: Bool { state.isRequestWhole && io.output.isEmpty }

    private var idleDeadline: Int64 { max(io.lastRead, io.lastWrite) + settings.idleTimeout }
}
