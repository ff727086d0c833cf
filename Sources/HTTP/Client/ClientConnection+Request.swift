internal import CLinux
internal import Primitives

/// The sending side: the owner of an exchange calls it to send a request and to set the pace of the response.
extension ClientConnection {
    private static let highWaterBytes = 32 * 1024
    private static let directBytes = 16 * 1024

    /// Sends a request's head; its body follows with `write` and `finish`, framed by `framing`.
    package func begin(_ head: RequestHead, framing: BodyFraming, handler: any ResponseHandler) {
        start(ClientRequest(head, framing: framing), handler)
        changeOutput { $0.append { HeadWriter.write(head, into: &$0) } }
        if framing == .none || framing == .length(0) { state.requestEnded() }
    }

    /// Sends the request of a lost connection that has sent none of it: its head, and the body so far.
    package func begin(takenFrom other: ClientConnection, handler: any ResponseHandler) {
        start(other.request, handler)
        if other.state.isRequestWhole { state.requestEnded() }
        output = other.output
        takenBytes = 0
        isFull = other.isFull
    }

    private func start(_ request: ClientRequest, _ handler: any ResponseHandler) {
        self.handler = handler
        self.request = request
        interimCount = 0
        isPaused = false
        isFull = false
        hasBegun = false
        hasAnswer = false
        phaseBegan = core.now
        lastProgress = core.now
        takenBytes = output.totalBytes
        state.begin(persists: !request.isLast)
        core.attend(token)
    }

    /// True while there is room for more of the request's body.
    ///
    /// After false, `upstreamDrained` is called once there is room.
    package var canWrite: Bool { !isFull }

    /// Sends a piece of the request's body.
    package func write(_ piece: Span<UInt8>) {
        guard state.isExchanging, let transport, !piece.isEmpty else { return }
        // Until now there was nothing to take.
        if output.isEmpty { lastProgress = core.now }
        if request.framing == .chunked {
            changeOutput { $0.append { ChunkedWriter.writeSizeLine(piece.count, into: &$0) } }
        }
        // A kept connection sends nothing before `serve` has seen that it has no unread input.
        if piece.count >= Self.directBytes, state.phase != .connecting, hasBegun || !isReused {
            let outcome = output.offer(piece, to: transport)
            changeOutput { $0.took(outcome, piece) }
            note(outcome)
        } else {
            changeOutput { $0.append(piece) }
        }
        if request.framing == .chunked {
            changeOutput { $0.append { ChunkedWriter.writeDataEnd(into: &$0) } }
        }
        if output.count > Self.highWaterBytes { isFull = true }
        core.attend(token)
    }

    /// Ends the request.
    package func finish(trailers: Headers) {
        guard state.isExchanging, !state.isRequestWhole else { return }
        if request.framing == .chunked {
            changeOutput { $0.append { ChunkedWriter.writeEnd(trailers: trailers, into: &$0) } }
        }
        state.requestEnded()
        phaseBegan = core.now
        core.attend(token)
    }

    /// Gives up the exchange; the handler receives no further call.
    package func abort() {
        handler = nil
        // A request that breaks off must not look complete, and an unwanted response ends at once.
        transport?.resetOnClose()
        close()
    }

    /// Acknowledges at once the part of a response that has come.
    ///
    /// With Nagle's algorithm, an upstream that writes head and body apart holds back the body until then. The
    /// kernel delays the acknowledgement by up to 40 ms.
    package func acknowledgeNow() {
        if let transport { CLinux_acknowledge_now(transport.descriptor) }
    }

    /// Pauses reading of the response, because its receiver is full.
    package func pauseResponse() {
        isPaused = true
    }

    /// Resumes reading after the events of this batch.
    package func resumeResponse() {
        guard isPaused else { return }
        isPaused = false
        lastProgress = core.now
        bodyPace?.restart(at: core.now, idleTimeout: settings.idleTimeout)
        core.attend(token)
    }

    /// Changes the waiting output.
    ///
    /// The output is moved out for the call, so that no run-time check for overlapping access is needed.
    func changeOutput(_ body: (inout OutputBuffer) -> Void) {
        var taken = OutputBuffer()
        swap(&taken, &output)
        body(&taken)
        swap(&taken, &output)
    }
}

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
