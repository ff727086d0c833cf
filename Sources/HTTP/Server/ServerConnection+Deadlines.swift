// The time limits for slow clients.

extension ServerConnection {
    package func expired(_ core: EventLoop.Core) {
        if let limit = facts.handshake?.deadline, core.now >= limit { return giveUpHandshake() }
        if !io.output.isEmpty {
            // No event reports that the system's large buffer drains, so ask before the client is blamed.
            io.noteTaken(at: core.now, settings.pace)
            if io.outputPace.deadline > core.now { return updateDeadline() }
        }
        switch state.input {
        case .discarded where io.output.isEmpty, .head(isPartial: false) where io.output.isEmpty: close()
        case .head(isPartial: true) where io.output.isEmpty: refuse(.headTimeout)
        case .complete where state.isPeerClosed && io.output.isEmpty: lose(.closed)
        case .discarded, .head, .body, .complete: lose(.timedOut)
        }
        updateDeadline()
    }

    /// The time at which the client has been waited for long enough.
    private var deadline: Int64? {
        if case .discarded = state.input, state.pendingStep == nil {
            return min(io.lastRead + Self.lingerIdleMilliseconds, lingerUntil)
        }
        if !io.output.isEmpty { return io.outputPace.deadline }
        switch state.input {
        case .head: return headDeadline
        case .body where state.isTunnel: return tunnelDeadline
        case .body: return state.isPaused ? nil : io.bodyPace?.deadline
        // The client sends no more and may listen for as long as a tunnel may be silent.
        case .complete where state.isTunnel: return tunnelDeadline
        case .complete:
            // The client is half-closed or gone; only a response would tell. A short grace serves the first without
            // much work for the second, which is far more frequent.
            return state.isPeerClosed ? max(peerClosedAt, io.lastWrite) + Self.halfCloseMilliseconds : nil
        case .discarded: return nil
        }
    }

    private var tunnelDeadline: Int64 { max(io.lastRead, io.lastWrite) + settings.tunnelTimeout }

    private static let lingerIdleMilliseconds: Int64 = 5_000
    private static let halfCloseMilliseconds: Int64 = 2_000

    func updateDeadline() {
        guard isAlive else { return }
        io.paceOutput(at: core.now, settings.pace)
        if let limit = facts.handshake?.deadline {
            core.setDeadline(io.token, min(limit, deadline ?? .max))
        } else {
            core.setDeadline(io.token, deadline)
        }
    }

    // MARK: Paces

    func restartBodyPace() {
        io.bodyPace = Pace(at: core.now, settings.pace)
    }

    /// Extends the deadline of the request's body for bytes that passed.
    func extendBodyPace(by count: Int) {
        io.bodyPace?.passed(count, at: core.now, settings.pace)
    }
}
