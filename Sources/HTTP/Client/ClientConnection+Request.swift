/// The sending side: the owner of an exchange calls it to send a request and to set the pace of the response.
extension ClientConnection {
    /// Sends a request's head; its body follows with `write` and `finish`, framed by `framing`.
    package func begin(_ head: RequestHead, framing: BodyFraming, handler: any ResponseHandler) {
        start(ClientRequest(head, framing: framing), handler)
        append { HeadWriter.write(head, into: &$0) }
        if framing == .none || framing == .length(0) { state.requestEnded() }
    }

    /// Sends the request of a lost connection that has sent none of it: its head, and the body so far.
    package func begin(takenFrom other: ClientConnection, handler: any ResponseHandler) {
        start(other.request, handler)
        if other.state.isRequestWhole { state.requestEnded() }
        io.output = other.io.output
        io.takenBytes = 0
        io.isFull = other.io.isFull
    }

    private func start(_ request: ClientRequest, _ handler: any ResponseHandler) {
        self.handler = handler
        self.request = request
        state.begin(persists: !request.isLast)
        phaseBegan = core.now
        io.lastWrite = core.now
        io.isFull = false
        io.takenBytes = io.output.totalBytes
        core.attend(io.token)
    }

    /// True while there is room for more of the request's body.
    ///
    /// After false, `upstreamDrained` is called once there is room.
    package var canWrite: Bool { !io.isFull }

    /// Sends a piece of the request's body.
    package func write(_ piece: Span<UInt8>) {
        guard state.isExchanging, isAlive, !piece.isEmpty else { return }
        // Until now there was nothing to take.
        if io.output.isEmpty { io.lastWrite = core.now }
        // A kept connection sends nothing before `serve` has seen that it has no unread input.
        let mayWrite = state.phase != .connecting && (state.hasSent || !isReused)
        send(piece, framed: request.framing, directly: mayWrite)
    }

    /// Ends the request.
    package func finish(trailers: Headers) {
        guard state.isExchanging, !state.isRequestWhole else { return }
        if request.framing == .chunked {
            append { ChunkedWriter.writeEnd(trailers: trailers, into: &$0) }
        }
        state.requestEnded()
        phaseBegan = core.now
        core.attend(io.token)
    }

    /// Gives up the exchange; the handler receives no further call.
    package func abort() {
        handler = nil
        // A request that breaks off must not look complete, and an unwanted response ends at once.
        io.transport?.resetOnClose()
        close()
    }

    /// Acknowledges at once the part of a response that has come.
    ///
    /// With Nagle's algorithm, an upstream that writes head and body apart holds back the body until then. The
    /// kernel delays the acknowledgement by up to 40 ms.
    package func acknowledgeNow() {
        if let transport = io.transport { Socket.acknowledgeNow(transport.descriptor) }
    }

    /// Pauses reading of the response, because its receiver is full.
    package func pauseResponse() {
        state.pause()
    }

    /// Resumes reading after the events of this batch.
    package func resumeResponse() {
        guard state.resume() else { return }
        io.lastRead = core.now
        restartBodyPace()
        core.attend(io.token)
    }
}

// MARK: - Time limits

extension ClientConnection {
    package func expired(_ core: EventLoop.Core) {
        switch state.phase {
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
        io.bodyPace?.restart(at: core.now, idleTimeout: settings.idleTimeout)
    }

    func updateDeadline() {
        guard isAlive else { return }
        core.setDeadline(io.token, deadline)
    }

    private var deadline: Int64? {
        switch state.phase {
        case .connecting: phaseBegan + settings.connectTimeout
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
