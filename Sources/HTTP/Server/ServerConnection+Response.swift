/// The writing side: handlers call it to respond.
extension ServerConnection {
    var canWrite: Bool { !io.isFull }
    var bytesSent: Int { io.output.totalBytes }

    /// True if the client's version allows a chunked body.
    var takesChunked: Bool { response.clientVersion >= .http11 }

    /// Sends an interim response (RFC 9110 section 15.2); HTTP/1.0 clients get none.
    func sendInterim(_ head: ResponseHead) {
        guard isAlive, state.output == .none, takesChunked else { return }
        append { HeadWriter.write(head, into: &$0) }
        core.attend(io.token)
    }

    private static let connectionFields: HeaderNameSet = [.connection, .transferEncoding]

    /// Sends the response's head.
    ///
    /// `body` is its framing. The connection's own framing and connection fields replace those of the head,
    /// except for the Content-Length of a response without body (HEAD, 304).
    func start(_ head: consuming ResponseHead, body: BodyFraming) {
        guard isAlive, state.output == .none else { return }
        var framing = body
        if framing == .chunked, !takesChunked { framing = .untilClose }
        response.offset = io.output.totalBytes
        response.wasPersistent = state.isPersistent
        let persists = state.responseStarted(endsWithConnection: framing == .untilClose)
        Self.setFraming(framing, in: &head.headers)
        // A 426 has an Upgrade field, which applies to this hop only (RFC 9110 section 15.5.22).
        if head.headers.contains(.upgrade) { head.headers.append(.connection, "upgrade") }
        if !persists {
            head.headers.append(.connection, "close")
        } else if response.clientVersion < .http11 {
            head.headers.append(.connection, "keep-alive")
        }
        complete(&head)
        response.framing = framing
        append { HeadWriter.write(head, into: &$0) }
        core.attend(io.token)
    }

    private static func setFraming(_ framing: BodyFraming, in headers: inout Headers) {
        headers.removeAll(connectionFields)
        guard framing != .none else { return }
        BodyFraming.declare(length: framing.length, in: &headers)
        if framing == .chunked { headers.append(.transferEncoding, "chunked") }
    }

    /// Sends a 101, after which both sides' bytes pass unchanged (RFC 9110 section 7.8).
    ///
    /// The client's bytes arrive as pieces of a body, and its end as the body's end. Writes go out unframed,
    /// and `finish` ends the connection.
    func switchProtocols(_ head: consuming ResponseHead) -> Bool {
        guard isAlive, state.output == .none, takesChunked else { return false }
        head.headers.removeConnectionFields(except: .upgrade)
        head.headers.remove(.contentLength)
        head.headers.append(.connection, "upgrade")
        response.framing = .untilClose
        body = BodyDecoder(.untilClose, limits: settings.limits)
        state.protocolSwitched()
        io.lastRead = core.now
        append { HeadWriter.write(head, into: &$0) }
        core.attend(io.token)
        return true
    }

    /// Sends a piece of the response's body; keeps the bytes that the client does not take yet.
    func write(_ piece: Span<UInt8>) {
        guard isAlive, state.output == .body, response.framing != .none, !piece.isEmpty else { return }
        send(piece, framed: response.framing, directly: true)
    }

    func finish(trailers: Headers = Headers()) {
        guard isAlive, state.output == .body else { return }
        if response.framing == .chunked {
            append { ChunkedWriter.writeEnd(trailers: trailers, into: &$0) }
        }
        handler = nil
        state.responseEnded()
        core.attend(io.token)
    }

    func withdraw() -> Bool {
        guard let transport = io.transport, state.output == .body, !state.isTunnel else { return false }
        let offset = response.offset
        var isWithdrawn = false
        isWithdrawn = io.output.withdraw(backTo: offset, from: transport)
        guard isWithdrawn else { return false }
        state.responseWithdrawn(wasPersistent: response.wasPersistent)
        io.isFull = false
        return true
    }

    /// Resets the connection too.
    func abort(isUpstreams: Bool) {
        guard isAlive else { return }
        io.transport?.resetOnClose()
        close()
    }

    /// Refuses the connection as a whole, before any request.
    func refuseConnection(_ refusal: Refusal) {
        refuse(refusal)
        flush()
    }

    func flush() {
        writeOutput()
        guard isAlive else { return }
        // A connection ends with its closure alert, for which the handshake must be complete.
        if io.output.isEmpty, let next = state.pendingStep, !facts.isEarly || next == .request {
            _ = state.takeStep()
            // Closing over unread input resets the connection, which may destroy the end of the response. Bytes
            // that arrive after the close would reset it too, so only the client's own end makes it safe.
            let hasUnreadInput = io.isReadable || !io.unread.isEmpty
            let isSafe = state.isPeerClosed && !hasUnreadInput
            return proceed(to: next == .close && !isSafe ? .linger : next)
        }
        if io.endPause() { handler?.drained() }
    }

    func wrote(_ outcome: WriteOutcome) {
        switch outcome {
        case .wrote(let count):
            io.lastWrite = core.now
            if io.isOutputLate { io.noteTaken(at: core.now, settings.pace) }
            if case .body = state.input { extendBodyPace(by: count) }
        case .wouldBlock: break
        case .failed: io.isBroken = true
        }
    }
}

struct ResponseProgress {
    var framing = BodyFraming.none
    /// The number of bytes given to the connection before it, so that it can be withdrawn.
    var offset = 0
    /// True if the connection could serve another request before it.
    var wasPersistent = true
    var clientVersion = HTTPVersion.http11
}
