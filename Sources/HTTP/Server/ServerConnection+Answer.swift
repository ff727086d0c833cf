internal import Primitives

/// The writing side: handlers call it to respond.
extension ServerConnection {
    /// The amount of waiting output at which the response's source must pause.
    ///
    /// Slow readers are many. For fast ones the socket's own buffer bridges the pause.
    private static let highWaterBytes = 32 * 1024
    /// The amount of waiting output at which the source may resume.
    private static let lowWaterBytes = 16 * 1024
    /// The size from which a piece is written at once instead of copied first.
    private static let directBytes = 16 * 1024

    /// True while there is room for more of the response.
    ///
    /// After false, `drained` is called once there is room.
    package var canWrite: Bool { !isFull }

    /// The number of bytes ever given to this connection to send, with heads and framing.
    package var bytesSent: Int { output.totalBytes }

    /// True while the client can receive a response.
    package var isOpen: Bool { transport != nil }

    /// True if the client's version allows a chunked body.
    package var takesChunked: Bool { clientVersion >= .http11 }

    /// Sends an interim response (RFC 9110 section 15.2); HTTP/1.0 clients get none.
    package func sendInterim(_ head: ResponseHead) {
        guard transport != nil, state.output == .none, clientVersion >= .http11 else { return }
        changeOutput { $0.append { HeadWriter.write(head, into: &$0) } }
        core.attend(token)
    }

    private static let connectionFields: HeaderNameSet = [.connection, .transferEncoding]
    private static let framingFields: HeaderNameSet = [.connection, .transferEncoding, .contentLength]

    /// Sends the response's head.
    ///
    /// `body` is its framing. The connection's own framing and connection fields replace those of the head,
    /// except for the Content-Length of a response without body (HEAD, 304).
    package func start(_ head: consuming ResponseHead, body: BodyFraming) {
        guard transport != nil, state.output == .none else { return }
        var framing = body
        if framing == .chunked, !takesChunked { framing = .untilClose }
        answerBeginning = AnswerBeginning(offset: output.totalBytes, wasPersistent: state.isPersistent)
        let persists = state.answerStarted(endsWithConnection: framing == .untilClose)
        head.headers.removeAll(framing == .none ? Self.connectionFields : Self.framingFields)
        switch framing {
        case .length(let count): head.headers.append(.contentLength, String(count))
        case .chunked: head.headers.append(.transferEncoding, "chunked")
        case .untilClose, .none: break
        }
        // A 426 has an Upgrade field, which applies to this hop only (RFC 9110 section 15.5.22).
        if head.headers.contains(.upgrade) { head.headers.append(.connection, "upgrade") }
        if !persists {
            head.headers.append(.connection, "close")
        } else if clientVersion < .http11 {
            head.headers.append(.connection, "keep-alive")
        }
        // RFC 6797 section 7.2: only with TLS, and once.
        if tls != nil, let policy = settings.strictTransportSecurity,
            !head.headers.contains(.strictTransportSecurity)
        {
            head.headers.append(.strictTransportSecurity, policy)
        }
        if !head.headers.contains(.date) { head.headers.append(.date, core.date) }
        answerFraming = framing
        changeOutput { $0.append { HeadWriter.write(head, into: &$0) } }
        core.attend(token)
    }

    /// Sends a 101, after which both sides' bytes pass unchanged (RFC 9110 section 7.8).
    ///
    /// The client's bytes arrive as pieces of a body, and its end as the body's end. Writes go out unframed,
    /// and `finish` ends the connection.
    package func switchProtocols(_ head: consuming ResponseHead) {
        guard transport != nil, state.output == .none, clientVersion >= .http11 else { return }
        head.headers.removeConnectionFields(except: .upgrade)
        head.headers.remove(.contentLength)
        head.headers.append(.connection, "upgrade")
        isTunnel = true
        answerFraming = .untilClose
        body = BodyDecoder(.untilClose, limits: settings.limits)
        state.protocolSwitched()
        lastRead = core.now
        changeOutput { $0.append { HeadWriter.write(head, into: &$0) } }
        core.attend(token)
    }

    /// Sends a piece of the response's body; keeps the bytes that the client does not take yet.
    package func write(_ piece: Span<UInt8>) {
        guard let transport, state.output == .body, answerFraming != .none, !piece.isEmpty else { return }
        if answerFraming == .chunked {
            changeOutput { $0.append { ChunkedWriter.writeSizeLine(piece.count, into: &$0) } }
        }
        if piece.count >= Self.directBytes {
            let outcome = output.offer(piece, to: transport)
            changeOutput { $0.took(outcome, piece) }
            noteWrite(outcome)
        } else {
            changeOutput { $0.append(piece) }
        }
        if answerFraming == .chunked { changeOutput { $0.append { ChunkedWriter.writeDataEnd(into: &$0) } } }
        if output.count > Self.highWaterBytes { isFull = true }
        core.attend(token)
    }

    /// Ends the response.
    package func finish(trailers: Headers = Headers()) {
        guard transport != nil, state.output == .body else { return }
        if answerFraming == .chunked {
            changeOutput { $0.append { ChunkedWriter.writeEnd(trailers: trailers, into: &$0) } }
        }
        handler = nil
        afterFlush = state.answerEnded()
        core.attend(token)
    }

    /// Withdraws a response if none of its bytes has gone to the client; otherwise returns false.
    ///
    /// Another response may be started afterwards.
    package func withdraw() -> Bool {
        guard transport != nil, state.output == .body, !isTunnel else { return false }
        let beginning = answerBeginning
        var isWithdrawn = false
        changeOutput { isWithdrawn = $0.withdraw(backTo: beginning.offset) }
        guard isWithdrawn else { return false }
        state.answerWithdrawn(wasPersistent: beginning.wasPersistent)
        isFull = false
        return true
    }

    /// Gives up the response and resets the connection, so that the client cannot take the response for
    /// complete.
    package func abort() {
        guard transport != nil else { return }
        transport?.resetOnClose()
        close()
    }

    /// Refuses the connection as a whole, before any request.
    func refuseConnection(_ refusal: Refusal) {
        refuse(refusal)
        flush()
    }

    func flush() {
        guard let transport else { return }
        if !output.isEmpty {
            let outcome = output.offer(to: transport)
            changeOutput { $0.took(outcome) }
            noteWrite(outcome)
            guard self.transport != nil else { return }
        }
        // A connection ends with its closure alert, for which the handshake must be complete.
        if output.isEmpty, let next = afterFlush, !awaitsHandshake || next == .request {
            afterFlush = nil
            // Closing over unread input resets the connection, which may destroy the end of the response. Bytes
            // that arrive after the close would reset it too, so only the client's own end makes it safe.
            let isSafe = state.isPeerClosed && !hasUnreadInput
            return proceed(to: next == .close && !isSafe ? .linger : next)
        }
        if isFull, output.count <= Self.lowWaterBytes {
            isFull = false
            handler?.drained()
        }
    }

    /// Extends the client's deadline for bytes that it has taken; those in the system's buffer do not count.
    func noteTaken() {
        guard let transport else { return }
        let taken = output.takenBytes(from: transport)
        guard taken > takenBytes else { return }
        note(taken - takenBytes, in: &outputPace)
        takenBytes = taken
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

    private func noteWrite(_ outcome: WriteOutcome) {
        switch outcome {
        case .wrote(let count):
            lastWrite = core.now
            if isOutputLate { noteTaken() }
            if case .body = state.input { note(count, in: &bodyPace) }
        case .wouldBlock: break
        case .failed: isBroken = true
        }
    }

    /// Extends a pace for bytes that passed.
    func note(_ bytes: Int, in pace: inout Pace) {
        pace.passed(
            bytes, at: core.now, idleTimeout: settings.idleTimeout, bytesPerSecond: settings.bodyRate)
    }
}

/// The start of a response in its connection's output, and the connection's state before it.
struct AnswerBeginning {
    /// The number of bytes given to the connection before.
    var offset = 0
    /// True if the connection could serve another request.
    var wasPersistent = true
}
