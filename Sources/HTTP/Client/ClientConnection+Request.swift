internal import CLinux

/// What the owner of an exchange calls: a request is sent, and the pace of its answer set.
extension ClientConnection {
    private static let highWaterBytes = 32 * 1024
    private static let directBytes = 16 * 1024

    /// Sends a request's head; its body follows with `write` and `finish`.
    ///
    /// `framing` says how.
    package func begin(_ head: RequestHead, framing: BodyFraming, handler: any ResponseHandler) {
        start(ClientRequest(head, framing: framing), handler)
        changeOutput { $0.append { HeadWriter.write(head, into: &$0) } }
        if framing == .none || framing == .length(0) { state.requestEnded() }
    }

    /// Sends a request of which `other`, which is lost, has sent nothing: its head, and what has come of its body
    /// since.
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

    /// Whether there is room for more of the request's body.
    ///
    /// When not, `upstreamDrained` comes once there is.
    package var canWrite: Bool { !isFull }

    /// Sends a piece of the request's body.
    package func write(_ piece: Span<UInt8>) {
        guard state.isExchanging, let transport, !piece.isEmpty else { return }
        // Nothing was to be taken until now.
        if output.isEmpty { lastProgress = core.now }
        if request.framing == .chunked {
            changeOutput { $0.append { ChunkedWriter.writeSizeLine(piece.count, into: &$0) } }
        }
        // On a kept connection nothing goes out before `serve` has seen that nothing lies there already.
        if piece.count >= Self.directBytes, state.phase != .connecting, hasBegun || !isReused {
            let outcome = output.offer(piece, to: transport)
            changeOutput { $0.took(outcome, piece) }
            note(outcome)
        } else {
            changeOutput { $0.append(piece) }
        }
        if request.framing == .chunked { changeOutput { $0.append { $0 += [13, 10] } } }
        if output.count > Self.highWaterBytes { isFull = true }
        core.attend(token)
    }

    /// The request is whole.
    package func finish(trailers: Headers) {
        guard state.isExchanging, !state.isRequestWhole else { return }
        if request.framing == .chunked {
            changeOutput { $0.append { ChunkedWriter.writeEnd(trailers: trailers, into: &$0) } }
        }
        state.requestEnded()
        phaseBegan = core.now
        core.attend(token)
    }

    /// Gives the exchange up; the handler hears nothing more.
    package func abort() {
        handler = nil
        // A request that breaks off must not look whole; an answer nobody wants ends at once.
        transport?.resetOnClose()
        close()
    }

    /// Acknowledges at once what has come of an answer that somebody waits for.
    ///
    /// An upstream that writes head and body apart, with Nagle's algorithm on, holds the body back until then, and the kernel
    /// the acknowledgement for up to 40 ms in the hope of something to send along with it.
    package func acknowledgeNow() {
        if let transport { CLinux_acknowledge_now(transport.descriptor) }
    }

    /// Stops reading the answer: its receiver is full.
    package func pauseResponse() {
        isPaused = true
    }

    /// Reads on, after the events of this batch.
    package func resumeResponse() {
        guard isPaused else { return }
        isPaused = false
        lastProgress = core.now
        bodyPace?.restart(at: core.now, idleTimeout: settings.idleTimeout)
        core.attend(token)
    }

    /// Lets `body` change what waits.
    ///
    /// It is taken out for that: whatever runs in between, no check is needed of whether it looks at it.
    func changeOutput(_ body: (inout OutputBuffer) -> Void) {
        var taken = OutputBuffer()
        swap(&taken, &output)
        body(&taken)
        swap(&taken, &output)
    }
}
