/// The writing side: what a handler calls to answer.
extension ServerConnection {
    /// As much output may wait as this before the answer's source is told to stop.
    ///
    /// Slow readers are many, and behind this there is the socket's own buffer, so that fast ones miss nothing.
    private static let highWaterBytes = 32 * 1024
    /// With this little left the source is told to go on.
    private static let lowWaterBytes = 16 * 1024
    /// Pieces from here on are written at once and not copied first.
    private static let directBytes = 16 * 1024

    /// Whether there is room for more of the answer.
    ///
    /// When not, `drained` comes once there is.
    package var canWrite: Bool { !isFull }

    /// Every byte that was ever given to this connection to send: heads and framing included.
    package var bytesSent: Int { output.totalBytes }

    /// Whether the client still waits for an answer here.
    package var isOpen: Bool { transport != nil }

    /// Whether a client of this version takes a chunked body.
    package var takesChunked: Bool { clientVersion >= .http11 }

    /// Sends an interim response (RFC 9110 section 15.2); not to HTTP/1.0, which does not know them.
    package func sendInterim(_ head: ResponseHead) {
        guard transport != nil, state.output == .none, clientVersion >= .http11 else { return }
        changeOutput { $0.append { HeadWriter.write(head, into: &$0) } }
        core.attend(token)
    }

    private static let connectionFields: HeaderNameSet = [.connection, .transferEncoding]
    private static let framingFields: HeaderNameSet = [.connection, .transferEncoding, .contentLength]

    /// Sends the answer's head.
    ///
    /// `body` says what follows; the head's own framing and connection fields are replaced by what is true
    /// here, but for the Content-Length of an answer without body (HEAD, 304).
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
        // With a 426, whose Upgrade says what is required, and ends at this hop (RFC 9110 section 15.5.22).
        if head.headers.contains(.upgrade) { head.headers.append(.connection, "upgrade") }
        if !persists {
            head.headers.append(.connection, "close")
        } else if clientVersion < .http11 {
            head.headers.append(.connection, "keep-alive")
        }
        // RFC 6797 section 7.2: never without TLS, and once.
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

    /// Sends a 101, from which on both sides' bytes pass as they are (RFC 9110 section 7.8).
    ///
    /// What the client sends comes as the pieces of a body, its end as that body's end; what is written goes out raw,
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

    /// Sends a piece of the answer's body; what the client does not take yet is kept.
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
        if answerFraming == .chunked { changeOutput { $0.append { $0 += [13, 10] } } }
        if output.count > Self.highWaterBytes { isFull = true }
        core.attend(token)
    }

    /// The answer is whole.
    package func finish(trailers: Headers = Headers()) {
        guard transport != nil, state.output == .body else { return }
        if answerFraming == .chunked {
            changeOutput { $0.append { ChunkedWriter.writeEnd(trailers: trailers, into: &$0) } }
        }
        handler = nil
        afterFlush = state.answerEnded()
        core.attend(token)
    }

    /// Takes back a response of which no byte has gone to the client yet; false where it is too late.
    ///
    /// Another response may be started then.
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

    /// Gives the answer up so that the client cannot take it for whole: the connection is reset.
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
        // A connection ends with its close_notify, for which the handshake must be whole.
        if output.isEmpty, let next = afterFlush, !awaitsHandshake || next == .request {
            afterFlush = nil
            // Closing over unread input resets the connection, and that may cost the client the answer's end.
            // Also what arrives only after the close would reset it: only the client's own end makes it safe.
            let isSafe = state.isPeerClosed && !hasUnreadInput
            return proceed(to: next == .close && !isSafe ? .linger : next)
        }
        if isFull, output.count <= Self.lowWaterBytes {
            isFull = false
            handler?.drained()
        }
    }

    /// Lets what the client has taken since the last look buy it time; what the system has taken does not.
    func noteTaken() {
        guard let transport else { return }
        let taken = output.takenBytes(from: transport)
        guard taken > takenBytes else { return }
        note(taken - takenBytes, in: &outputPace)
        takenBytes = taken
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

    /// Bytes have passed either way.
    func note(_ bytes: Int, in pace: inout Pace) {
        pace.passed(
            bytes, at: core.now, idleTimeout: settings.idleTimeout, bytesPerSecond: settings.bodyRate)
    }
}

/// Where a response begins in its connection's output, and what the connection was before it.
struct AnswerBeginning {
    /// The bytes that the connection had been given before.
    var offset = 0
    /// Whether the connection could serve another request.
    var wasPersistent = true
}
