/// The time limits of a connection to an upstream.
extension ClientConnection {
    package func expired(_ core: EventLoop.Core) {
        switch state.phase {
        case .connecting where core.now < connectDeadline: connectAgain()
        case .connecting: lose(.connectTimeout)
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
        guard let transport = io.transport else { return }
        do throws(SystemError) {
            if try connectRetry?.connect(transport.descriptor, now: core.now) == true {
                connectRetry = nil
                core.watch(transport.descriptor, events: Readiness.edges, for: io.token)
            }
            updateDeadline()
        } catch {
            lose(.connectFailed(error))
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
        case .connecting: min(connectRetry?.next ?? .max, connectDeadline)
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

    private var connectDeadline: Int64 { phaseBegan + settings.connectTimeout }

    private var isRequestSent: Bool { state.isRequestWhole && io.output.isEmpty }

    private var idleDeadline: Int64 { max(io.lastRead, io.lastWrite) + settings.idleTimeout }
}
