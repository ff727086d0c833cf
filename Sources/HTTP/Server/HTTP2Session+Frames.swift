internal import Primitives

/// The frames as they come and go, and what they cost.
extension HTTP2Session: FrameEngineOwner {
    /// The bytes of the fields of all open requests: as many as may be open, with 8 KiB of cookies each.
    static let fieldBytesMax = 1 << 20

    /// Judges a frame before the engine processes it.
    func frameBegan(_ frame: HTTP2Frame) {
        switch frame.kind {
        case .headers where frame.stream > streams.ids.last:
            begin(frame.stream)
        case .headers:
            checkStream(of: frame)
        case .data where frame.length > 0 || frame.endsStream:
            budget.passed(frame.length)
            checkStream(of: frame)
        case .continuation: break
        case .priority where frame.stream == 0 || frame.dependency == frame.stream:
            // RFC 9113 section 6.3, RFC 7540 section 5.3.1; nghttp2 ignores all PRIORITY frames.
            terminate(.protocolError)
        case .data, .priority, .reset, .goAway, .priorityUpdate, .other: countControlFrame()
        }
    }

    private func countControlFrame() {
        if !budget.countControlFrame(now: core.now) { exceed(.controlFrames) }
    }

    private func begin(_ id: Int32) {
        streams.ids.begin(id)
        let takesRequests = ending == .none || ending == .announced
        if takesRequests, streams.open.count < HTTP2Settings.streamsMax {
            return waits.head = (id, core.now + settings.headTimeout)
        }
        // The stream is refused, or passed over without a word; what belongs to it may still come.
        if takesRequests { count(.streams) }
        streams.ids.end(id, byClient: false)
    }

    /// Ends the connection if a frame names a stream that the client has ended or passed over.
    ///
    /// RFC 9113 sections 5.1 and 5.1.1; nghttp2 ignores such frames.
    private func checkStream(of frame: HTTP2Frame) {
        guard frame.stream <= streams.ids.last, frame.stream % 2 == 1,
            engine?.knows(stream: frame.stream) == false,
            !streams.ids.endedEarly.contains(frame.stream)
        else { return }
        if streams.ids.endedByClient.contains(frame.stream) {
            terminate(.streamClosed)
        } else if frame.kind == .headers {
            terminate(.protocolError)
        }
    }

    func fieldsBegan(stream id: Int32, areTrailers: Bool) {
        if let stream = streams[id] {
            stream.trailersBegan()
        } else if !areTrailers {
            if streams.open.isEmpty {
                waits.streamsCheckAt = core.now + streamsCheckInterval
                io.output.keepMemory(of: 3 * OutputQuota.large)
            }
            streams.insert(HTTP2Stream(id: id, session: self))
        }
    }

    func field(_ name: Span<UInt8>, _ value: Span<UInt8>, stream id: Int32) -> Bool {
        guard let stream = streams[id] else { return true }
        stream.received(name, value)
        fieldBytes += HTTP2Settings.cost(ofField: name, value)
        return fieldBytes <= Self.fieldBytesMax || refuse(stream)
    }

    /// Refuses a request for whose fields there is no room beside those of others, so that these go on and the client may send
    /// it again; returns false if the connection must end.
    private func refuse(_ stream: HTTP2Stream) -> Bool {
        let isRefused = streams.ids.endedEarly.contains(stream.id)
        if !isRefused { count(.heads) }
        // No section alone may have more than a quarter of it, and trailers come too late for a refusal.
        guard stream.assembler.fieldBytes <= Self.fieldBytesMax / 4, stream.state.input != .trailers else {
            return false
        }
        guard !isRefused else { return true }
        streams.ids.end(stream.id, byClient: false)
        stream.assembler.forget()
        return true
    }

    func headEnded(stream id: Int32, endsStream: Bool) {
        sectionEnded(of: id)
        guard let stream = streams[id] else { return }
        // The engine refuses it only once the GOAWAY that says so has left it.
        guard !streams.ids.endedEarly.contains(id) else {
            fieldBytes -= stream.assembler.giveBackFieldBytes()
            return reset(stream, .refusedStream)
        }
        stream.headEnded(endsStream: endsStream)
        stream.prioritize(streams.priorities.take(forOpened: id, field: stream.requestedPriority))
        begin(stream)
        // The client's numbers are odd, and the largest has no successor.
        if streams.ids.last / 2 + 1 >= settings.requestsMax { announceEnd() }
    }

    /// Ends the wait for a request's header section; no event of another stream does, because it says nothing of this one.
    private func sectionEnded(of id: Int32) { if waits.head?.stream == id { waits.head = nil } }

    func data(_ bytes: Span<UInt8>, stream id: Int32) {
        // The window of each stream is its back-pressure, and none waits for what others hold.
        engine?.consumeConnection(bytes.count)
        streams[id]?.received(bytes)
    }

    func fieldsEnded(stream id: Int32, endsStream: Bool) {
        if endsStream { bodyEnded(stream: id) }
    }

    func bodyEnded(stream id: Int32) { streams[id]?.receivedEnd() }

    func peerReset(stream id: Int32, error: UInt32) {
        streams[id]?.resetByClient()
        countReset(of: id)
    }

    private func countReset(of id: Int32) {
        if !budget.countReset(now: core.now, bodyAge: streams[id]?.bodyAge) { exceed(.resets) }
    }

    func prioritized(stream id: Int32, _ value: Span<UInt8>) {
        // RFC 9218 section 7.1: number 0 is an error, and so is a push that was never promised.
        guard id > 0, id % 2 == 1 else { return terminate(.protocolError) }
        let priority = Priority(parsing: value)
        if let stream = streams[id] {
            streams.priorities.note()
            stream.prioritize(priority)
        } else if id > streams.ids.last,
            !streams.priorities.keep(priority, forIdle: id, openCount: streams.open.count)
        {
            terminate(.protocolError)
        }
    }

    func frameSent(_ frame: HTTP2Frame) {
        switch frame.kind {
        case .data, .headers:
            guard frame.endsStream, let stream = streams[frame.stream] else { return }
            if stream.state.handover != .refused { budget.responseCompleted() }
            // RFC 9113 section 8.1: the rest of the request is of no use.
            if !stream.state.isRequestEnded { engine?.reset(stream: frame.stream, .noError) }
        case .reset where frame.error == HTTP2Error.refusedStream.rawValue:
            // Nothing began, and the client may have kept every rule.
            countControlFrame()
        case .reset where frame.error != HTTP2Error.noError.rawValue:
            // What an upstream breaks off is no fault of the client.
            if streams[frame.stream]?.isUpstreamsFault != true { countReset(of: frame.stream) }
        case .reset, .goAway, .continuation, .priority, .priorityUpdate, .other: break
        }
    }

    func closed(stream id: Int32, error: UInt32) {
        sectionEnded(of: id)
        guard let stream = streams.remove(id) else { return }
        fieldBytes -= stream.assembler.fieldBytes
        streams.ids.end(id, byClient: stream.state.isEndedByClient)
        if streams.open.isEmpty {
            waits.idleUntil = core.now + settings.keepAliveTimeout
            io.output.keepMemory(of: nil)
        }
        if !stream.state.hasBegun, stream.state.input != .reset, error == HTTP2Error.protocolError.rawValue {
            // The engine has refused its fields.
            reportMalformed()
        }
        stream.lose(.closed)
    }

    func bodyReady(stream id: Int32, countMax: Int) -> FrameEngine.BodyPart {
        streams[id]?.bodyPart(countMax: min(countMax, dataBytesMax)) ?? .none
    }

    func writeData(head: Span<UInt8>, count: Int, stream id: Int32) -> FrameEngine.DataOutcome {
        // A response may be given up while its frame waits for room.
        guard let stream = streams[id], stream.waitingBytes >= count else { return .gone }
        append {
            $0.append(head)
            stream.moveBody(count, into: &$0)
        }
        budget.passed(count)
        waits.windowPace.passed(count, at: core.now, settings.pace)
        return hasRoom ? .written : .writtenAndFull
    }
}
