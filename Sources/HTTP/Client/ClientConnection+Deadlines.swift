/// How long an upstream is waited for.
extension ClientConnection {
    package func expired(_ core: EventLoop.Core) {
        switch state.phase {
        case .connecting: lose(.connectTimeout)
        case .idle: close()
        case .awaitingHead where isTaking(), .body where isTaking(): updateDeadline()
        case .awaitingHead where state.isRequestWhole && output.isEmpty: lose(.headTimeout)
        case .awaitingHead, .body: lose(.idleTimeout)
        case .closed: break
        }
    }

    /// Whether the upstream has taken more of its request since the last look, and more is left for it.
    ///
    /// The system's buffer is large, and no event tells of how it drains: ask before anybody is blamed.
    private func isTaking() -> Bool {
        guard let transport, transport.unacknowledgedBytes > 0 else { return false }
        let taken = output.takenBytes(from: transport)
        guard taken > takenBytes else { return false }
        takenBytes = taken
        phaseBegan = core.now
        lastProgress = core.now
        return true
    }

    func updateDeadline() {
        guard transport != nil else { return }
        core.setDeadline(token, deadline)
    }

    private var deadline: Int64? {
        switch state.phase {
        case .connecting: phaseBegan + settings.connectTimeout
        case .idle: phaseBegan + settings.keepAliveTimeout
        case .awaitingHead where state.isRequestWhole && output.isEmpty: phaseBegan + settings.responseTimeout
        // The request's body is slow because its sender is: the other side watches over that.
        case .awaitingHead: output.isEmpty ? nil : lastProgress + settings.idleTimeout
        // How long a tunnel may be silent is for the client's side to say, which sees the bytes of both.
        case .body where isTunnel: output.isEmpty ? nil : lastProgress + settings.idleTimeout
        case .body: isPaused ? nil : bodyPace?.deadline ?? lastProgress + settings.idleTimeout
        case .closed: nil
        }
    }
}
