/// The time limits for an upstream.
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

    /// True if the upstream has taken more of its request since the last look, and more is left for it.
    ///
    /// No event reports that the system's large buffer drains, so ask before the upstream is blamed.
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
        // A slow request body is its sender's fault, which the server's side watches.
        case .awaitingHead: output.isEmpty ? nil : lastProgress + settings.idleTimeout
        // The server's side limits the silence of a tunnel, because it sees the bytes of both directions.
        case .body where isTunnel: output.isEmpty ? nil : lastProgress + settings.idleTimeout
        case .body: isPaused ? nil : bodyPace?.deadline ?? lastProgress + settings.idleTimeout
        case .closed: nil
        }
    }
}
