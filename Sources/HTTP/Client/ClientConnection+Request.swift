/// The sending side: the owner of an exchange calls it to send a request and to set the pace of the response.
extension ClientConnection {
    /// Sends a request's head; its body follows with `write` and `finish`, framed by `framing`.
    package func begin(_ head: RequestHead, framing: BodyFraming, handler: any ResponseHandler) {
        start(OutstandingRequest(head, framing: framing), handler)
        append { HeadWriter.write(head, into: &$0) }
        if !framing.hasBody { state.requestEnded() }
    }

    /// Sends the request of a lost connection that has sent none of it: its head, and the body so far.
    package func begin(takenFrom other: ClientConnection, handler: any ResponseHandler) {
        start(other.request, handler)
        if other.state.isRequestWhole { state.requestEnded() }
        io.output = other.io.output
        io.takenBytes = 0
        io.isFull = other.io.isFull
    }

    private func start(_ request: OutstandingRequest, _ handler: any ResponseHandler) {
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

    package func write(_ piece: Span<UInt8>) {
        guard state.isExchanging, isAlive, !piece.isEmpty else { return }
        // Until now there was nothing to take.
        if io.output.isEmpty { io.lastWrite = core.now }
        // A kept connection sends nothing before `serve` has seen that it has no unread input.
        let mayWrite = state.phase != .connecting && (state.hasSent || !isReused)
        send(piece, framed: request.framing, directly: mayWrite)
    }

    package func finish(trailers: Headers) {
        guard state.isExchanging, !state.isRequestWhole else { return }
        if request.framing == .chunked {
            append { ChunkedWriter.writeEnd(trailers: trailers, into: &$0) }
        }
        state.requestEnded()
        phaseBegan = core.now
        core.attend(io.token)
    }

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
    package func pauseResponse() { state.pause() }

    /// Resumes reading after the events of this batch.
    package func resumeResponse() {
        guard state.resume() else { return }
        io.lastRead = core.now
        restartBodyPace()
        core.attend(io.token)
    }
}
