/// The times until which an HTTP/2 connection waits for its client.
struct HTTP2Waits: Sendable {
    /// The end of the wait for a request while no stream is open.
    var idleUntil: Int64
    /// The request whose header section has begun, and the end of the wait for the rest of it.
    var head: (stream: Int32, until: Int64)?
    /// The time of the second GOAWAY of an orderly end.
    var goAwayAt: Int64?
    /// The end of the wait for the client's own end.
    var lingerUntil: Int64?
    /// The time of the next look at the streams, whose own deadlines are many and change often.
    var streamsCheckAt: Int64 = 0
    /// The pace at which the client opens the connection's window, while that is closed.
    var windowPace = Pace()
    var isWindowLate = false
    /// The deadline that is set, so that only an earlier one needs a call.
    var armed = Int64.max

    /// The time between the two GOAWAY frames: a round trip of a slow client.
    static let goAwayDelay: Int64 = 1_000
    static let lingerMilliseconds: Int64 = 2_000
}

/// The time limits for slow clients.
extension HTTP2Session {
    func expired(_ core: EventLoop.Core) {
        waits.armed = .max
        if let limit = facts.handshake?.deadline, core.now >= limit { return giveUpHandshake() }
        if let lingerUntil = waits.lingerUntil, core.now >= lingerUntil { return close() }
        // Output that came in this turn of the loop has not been offered to the client yet.
        if io.isOutputLate, !io.output.isEmpty {
            // No event reports that the system's large buffer drains, so ask before the client is blamed.
            io.noteTaken(at: core.now, settings.pace)
            if core.now >= io.outputPace.deadline { return lose(.timedOut) }
        }
        if let head = waits.head, core.now >= head.until {
            waits.head = nil
            count(.headTimeout)
            terminate(.protocolError)
        }
        if let goAwayAt = waits.goAwayAt, core.now >= goAwayAt { refuseRequests() }
        if streams.open.isEmpty {
            if core.now >= waits.idleUntil { refuseRequests() }
        } else if core.now >= waits.streamsCheckAt {
            checkStreams()
        }
        serve()
    }

    func updateDeadline() {
        guard isAlive else { return }
        io.paceOutput(at: core.now, settings.pace)
        let next = nextDeadline
        guard next < waits.armed else { return }
        waits.armed = next
        core.setDeadline(io.token, next)
    }

    private var nextDeadline: Int64 {
        var next = min(facts.handshake?.deadline ?? .max, waits.head?.until ?? .max)
        if io.isOutputLate { next = min(next, io.outputPace.deadline) }
        if let lingerUntil = waits.lingerUntil { return min(next, lingerUntil) }
        guard engine != nil else { return next }
        if !streams.open.isEmpty { next = min(next, waits.streamsCheckAt) }
        // Once requests are refused, nothing more comes of these two.
        guard ending == .none || ending == .announced else { return next }
        return min(next, waits.goAwayAt ?? .max, streams.open.isEmpty ? waits.idleUntil : .max)
    }

    // MARK: Streams

    /// The time between two looks at the streams.
    var streamsCheckInterval: Int64 { max(10, settings.idleTimeout / 8) }

    /// Resets the streams whose client has been waited for long enough.
    ///
    /// Comes a few times in each idle time-out: a wait that has begun in between lasts an eighth longer.
    private func checkStreams() {
        guard let engine else { return }
        waits.streamsCheckAt = core.now + streamsCheckInterval
        var isWaiting = false
        for stream in streams.open {
            let isBlocked = stream.waitsForClient
            isWaiting = isWaiting || isBlocked
            stream.noteWindow(isClosed: isBlocked && engine.isWindowClosed(stream: stream.id))
            guard let deadline = stream.deadline else { continue }
            if deadline <= core.now {
                count(stream.isOutputLate ? .stalledResponse : .stalledRequest)
                stream.lose(.timedOut)
                reset(stream, .cancel)
            } else {
                waits.streamsCheckAt = min(waits.streamsCheckAt, deadline)
            }
        }
        checkWindow(isClosed: isWaiting && engine.isWindowClosed)
    }

    /// Ends the connection if its window, which all streams share, has been closed for long.
    private func checkWindow(isClosed: Bool) {
        if isClosed, !waits.isWindowLate {
            waits.windowPace.restart(at: core.now, settings.pace)
        }
        waits.isWindowLate = isClosed
        guard isClosed, core.now >= waits.windowPace.deadline else { return }
        for stream in streams.open { stream.lose(.timedOut) }
        exceed(.stalledResponse)
    }
}

extension HTTP2Stream {
    /// The time at which the client has been waited for long enough; nil while it is not waited for.
    var deadline: Int64? {
        if state.isTunnel { return lastActivity + session.settings.tunnelTimeout }
        if isOutputLate { return outputPace.deadline }
        // An application that has let go takes no more of the request.
        return state.awaitsRequest && (handler != nil || !state.hasBegun) ? bodyPace.deadline : nil
    }

    /// Begins to judge the client's window, or stops.
    func noteWindow(isClosed: Bool) {
        if isClosed, !isOutputLate {
            outputPace.restart(at: session.core.now, session.settings.pace)
        }
        isOutputLate = isClosed
    }
}
