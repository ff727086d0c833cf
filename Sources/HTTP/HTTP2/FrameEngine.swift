internal import CNghttp2
internal import Primitives

/// Receives the events of a frame engine while it reads and writes.
///
/// All calls come from within the engine's own `receive` and `send`. The receiver may call the engine back, except for
/// those two.
protocol FrameEngineOwner: AnyObject {
    /// A header section has begun: that of a request, or another one.
    func fieldsBegan(stream: Int32, areTrailers: Bool)
    /// A field, its name in lower case and both checked by RFC 9113 section 8.2; valid during the call.
    ///
    /// Returns false to read nothing more: `receive` fails then.
    func field(_ name: Span<UInt8>, _ value: Span<UInt8>, stream: Int32) -> Bool
    /// The head of a request is complete, and with it the request if it `endsStream`.
    func headEnded(stream: Int32, endsStream: Bool)
    /// A header section that begins no request is complete, and with it the message if it `endsStream`: the trailers of a
    /// request, or a head or the trailers of a response.
    func fieldsEnded(stream: Int32, endsStream: Bool)
    /// A piece of the peer's body; valid during the call.
    func data(_ bytes: Span<UInt8>, stream: Int32)
    /// The body is complete, has its declared length, and no trailers follow.
    func bodyEnded(stream: Int32)
    func peerReset(stream: Int32, error: UInt32)
    /// The peer takes no further request.
    func peerGoesAway(_ error: UInt32)
    /// The peer breaks a rule that the engine does not check: the owner ends the session.
    func terminate(_ error: HTTP2Error)
    /// The client has signalled the priority of a stream by a PRIORITY_UPDATE (RFC 9218 section 7.1).
    func prioritized(stream: Int32, _ value: Span<UInt8>)
    /// A frame has been put into the output.
    func frameSent(_ frame: HTTP2Frame)
    /// The stream is over; nothing about it comes later.
    func closed(stream: Int32, error: UInt32)
    /// How many bytes of the response's body may go out now, at most `countMax`.
    func bodyReady(stream: Int32, countMax: Int) -> FrameEngine.BodyPart
    /// Appends a DATA frame, its head and `count` bytes of the body, to the output.
    func writeData(head: Span<UInt8>, count: Int, stream: Int32) -> FrameEngine.DataOutcome
}

/// Defaults for the calls that only one side needs: a client gets no requests, and a server no GOAWAY that matters.
extension FrameEngineOwner {
    func fieldsBegan(stream: Int32, areTrailers: Bool) {}
    func headEnded(stream: Int32, endsStream: Bool) {}
    func prioritized(stream: Int32, _ value: Span<UInt8>) {}
    func frameSent(_ frame: HTTP2Frame) {}
    func bodyReady(stream: Int32, countMax: Int) -> FrameEngine.BodyPart { .none }
    func writeData(head: Span<UInt8>, count: Int, stream: Int32) -> FrameEngine.DataOutcome { .gone }
    func peerGoesAway(_ error: UInt32) {}
    func terminate(_ error: HTTP2Error) {}
}

/// The frames, streams, windows and header compression of one HTTP/2 connection, by nghttp2.
///
/// Confined to its loop. With its callbacks, the only file that calls the library.
@safe final class FrameEngine {
    enum DataOutcome {
        case written
        /// The output has no room for another one, which is not chosen before it has.
        case writtenAndFull
        /// The body has been given up.
        case gone
    }

    /// The part of a body that goes into the next frame.
    enum BodyPart {
        case bytes(Int, isEnd: Bool)
        /// The end of the body, behind which trailers come.
        case endBeforeTrailers(Int)
        /// There are none for now.
        case none
    }

    // Owned: made in `init`, freed in `deinit`.
    private let session: OpaquePointer
    // Safe: the owner holds the engine, and lets it go before it goes itself; calls come from within the owner's own alone. A
    // reference that is checked would be retained for each field.
    @safe unowned(unsafe) let owner: any FrameEngineOwner
    /// True once this side has ended the session by itself: nghttp2 before 1.52.0-1+deb12u3 and 1.68.1 aborts the process if it
    /// is given further frames after an end within a callback (CVE-2026-27135).
    private var isTerminated = false
    /// The payload of the PRIORITY_UPDATE that is being read.
    var priorityUpdate: [UInt8] = []

    /// Makes the server's side, and queues its SETTINGS; nil without memory.
    convenience init?(owner: any FrameEngineOwner, fieldBytesMax: Int) {
        guard let options = unsafe Self.makeOptions() else { return nil }
        defer { unsafe nghttp2_option_del(options) }
        // `NO_RFC7540_PRIORITIES` counts in the first frame only (RFC 9218 section 2.1).
        let entries = [
            (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, UInt32(HTTP2Settings.streamsMax)),
            (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, HTTP2Settings.streamWindow),
            (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(fieldBytesMax)),
            (NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1), (NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1),
        ]
        unsafe self.init(owner, entries, window: HTTP2Settings.connectionWindow) {
            unsafe nghttp2_session_server_new2(&$0, $1, nil, options)
        }
    }

    /// Makes the client's side, and queues preface and SETTINGS; nil without memory.
    ///
    /// Windows open by themselves as bytes come, since the receiver takes all of them.
    convenience init?(client owner: any FrameEngineOwner, fieldBytesMax: Int) {
        let entries = [
            (NGHTTP2_SETTINGS_ENABLE_PUSH, 0),
            (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, UInt32(HTTP2Settings.clientWindow)),
            (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(fieldBytesMax)),
        ]
        unsafe self.init(owner, entries, window: HTTP2Settings.clientWindow) {
            unsafe nghttp2_session_client_new(&$0, $1, nil)
        }
    }

    private init?(
        _ owner: any FrameEngineOwner, _ settings: [(nghttp2_settings_id, UInt32)], window: Int,
        make: (inout OpaquePointer?, OpaquePointer) -> Int32
    ) {
        var made: OpaquePointer?
        // Safe: the object is not used by nghttp2 before the first `receive` or `send`, and frees the session before
        // it goes itself.
        guard let callbacks = unsafe Self.makeCallbacks() else { return nil }
        defer { unsafe nghttp2_session_callbacks_del(callbacks) }
        guard unsafe make(&made, callbacks) == 0, let made = unsafe made else { return nil }
        self.owner = owner
        unsafe session = made
        unsafe nghttp2_session_set_user_data(session, Unmanaged.passUnretained(self).toOpaque())
        let entries = settings.map { id, value in
            nghttp2_settings_entry(settings_id: Int32(id.rawValue), value: value)
        }
        // Safe: nghttp2 copies the entries during the call.
        _ = unsafe nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count)
        _ = unsafe nghttp2_session_set_local_window_size(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, Int32(window))
    }

    deinit {
        unsafe nghttp2_session_del(session)
    }

    private static func makeOptions() -> OpaquePointer? {
        var options: OpaquePointer?
        guard unsafe nghttp2_option_new(&options) == 0, let options = unsafe options else { return nil }
        // The window is opened as bytes are used, which makes it the back-pressure.
        unsafe nghttp2_option_set_no_auto_window_update(options, 1)
        // RFC 9113 section 5.1 lets a server forget closed streams; keeping them costs memory.
        unsafe nghttp2_option_set_no_closed_streams(options, 1)
        unsafe nghttp2_option_set_max_deflate_dynamic_table_size(options, 4096)
        // HTTP2Budget limits resets, counts what exceeds it, and refills with responses.
        unsafe nghttp2_option_set_stream_reset_rate_limit(options, 1 << 40, 1 << 40)
        // Read here: nghttp2 1.52 itself writes to streams that it has freed if such frames had announced them.
        unsafe nghttp2_option_set_user_recv_extension_type(options, HTTP2Frame.Kind.priorityUpdate.rawValue)
        return unsafe options
    }

    // MARK: Bytes

    /// Reads the peer's bytes, unless the session has been terminated; returns the error after which it can be used no more.
    ///
    /// The session itself reports all other errors of the connection.
    func receive(_ bytes: Span<UInt8>) -> HTTP2Error? {
        guard !isTerminated else { return nil }
        // Safe: nghttp2 reads within the span and keeps no pointer.
        let code = unsafe bytes.withUnsafeBufferPointer {
            unsafe nghttp2_session_mem_recv(session, $0.baseAddress, $0.count)
        }
        switch code {
        case 0...: return nil
        case Int(NGHTTP2_ERR_FLOODED.rawValue), Int(NGHTTP2_ERR_TOO_MANY_CONTINUATIONS.rawValue):
            return .enhanceYourCalm
        case Int(NGHTTP2_ERR_BAD_CLIENT_MAGIC.rawValue): return .protocolError
        // The owner has ended the connection by `field`.
        case Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue): return .enhanceYourCalm
        default: return .internalError
        }
    }

    /// Returns a GOAWAY frame for a session that can send none itself.
    func goAway(_ error: HTTP2Error) -> [UInt8] {
        let last = unsafe UInt32(bitPattern: nghttp2_session_get_last_proc_stream_id(session))
        let numbers = [last, error.rawValue].flatMap { number in
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
        }
        return [0, 0, UInt8(numbers.count), UInt8(NGHTTP2_GOAWAY.rawValue), 0, 0, 0, 0, 0] + numbers
    }

    /// Passes the next bytes for the peer to `append`, DATA excepted; returns how many, nil after an error.
    func send(_ append: (Span<UInt8>) -> Void) -> Int? {
        var start: UnsafePointer<UInt8>?
        let count = unsafe nghttp2_session_mem_send(session, &start)
        guard count >= 0 else { return nil }
        // Safe: nghttp2 keeps the bytes until its next call.
        if count > 0 { unsafe append(UnsafeBufferPointer(start: start, count: count).span) }
        return count
    }

    var wantsRead: Bool { unsafe nghttp2_session_want_read(session) != 0 }
    var wantsWrite: Bool { unsafe nghttp2_session_want_write(session) != 0 }

    /// The number of frames that wait, apart from DATA.
    var queuedFrames: Int { unsafe nghttp2_session_get_outbound_queue_size(session) }

    /// True if the client's window has no room for bytes of the stream.
    func isWindowClosed(stream: Int32) -> Bool {
        unsafe nghttp2_session_get_stream_remote_window_size(session, stream) <= 0
    }

    /// The bytes of the stream for which both of the client's windows have room.
    func window(stream: Int32) -> Int {
        let own = unsafe nghttp2_session_get_stream_remote_window_size(session, stream)
        return max(0, Int(min(own, unsafe nghttp2_session_get_remote_window_size(session))))
    }

    /// True if the client's window has no room for bytes of any stream.
    var isWindowClosed: Bool { unsafe nghttp2_session_get_remote_window_size(session) <= 0 }

    /// True if the engine has the stream, open or half-closed.
    func knows(stream: Int32) -> Bool { unsafe nghttp2_session_find_stream(session, stream) != nil }

    // MARK: Requests and responses

    /// Begins a request without content; returns its stream, which is negative if no more can begin on this connection.
    func submitRequest(_ fields: FieldBlock) -> Int32 {
        unsafe fields.withPairs { pairs in
            // Safe: nghttp2 copies the pairs during the call.
            unsafe nghttp2_submit_request(session, nil, pairs.baseAddress, pairs.count, nil, nil)
        }
    }

    /// Begins a response; its body is asked for through `bodyReady`.
    func submit(_ fields: FieldBlock, stream: Int32, hasBody: Bool) -> Bool {
        var provider = unsafe nghttp2_data_provider()
        unsafe provider.read_callback = Self.readBody
        return unsafe fields.withPairs { pairs in
            // Safe: nghttp2 copies pairs and provider during the call.
            if hasBody {
                return unsafe nghttp2_submit_response(
                    session, stream, pairs.baseAddress, pairs.count, &provider)
                    == 0
            }
            return unsafe nghttp2_submit_response(session, stream, pairs.baseAddress, pairs.count, nil) == 0
        }
    }

    func submitInterim(_ fields: FieldBlock, stream: Int32) {
        unsafe fields.withPairs { pairs in
            // Safe: nghttp2 copies the pairs during the call.
            _ = unsafe nghttp2_submit_headers(
                session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, nil, pairs.baseAddress, pairs.count, nil)
        }
    }

    func submitTrailers(_ fields: FieldBlock, stream: Int32) {
        unsafe fields.withPairs { pairs in
            // Safe: nghttp2 copies the pairs during the call.
            _ = unsafe nghttp2_submit_trailer(session, stream, pairs.baseAddress, pairs.count)
        }
    }

    /// Asks for the stream's body again after `BodyPart.none`.
    func resume(stream: Int32) { _ = unsafe nghttp2_session_resume_data(session, stream) }

    func reset(stream: Int32, _ error: HTTP2Error) {
        _ = unsafe nghttp2_submit_rst_stream(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, error.rawValue)
    }

    /// Sets the priority of the stream, in place of what the request's field says.
    func setPriority(_ priority: Priority, stream: Int32) {
        var value = nghttp2_extpri(
            urgency: UInt32(priority.urgency ?? Priority.defaultUrgency),
            inc: priority.isIncremental == true ? 1 : 0)
        _ = unsafe nghttp2_session_change_extpri_stream_priority(session, stream, &value, 1)
    }

    // MARK: Windows

    /// Opens the stream's window for bytes of a body that were used.
    func consume(_ count: Int, stream: Int32) {
        _ = unsafe nghttp2_session_consume_stream(session, stream, count)
    }

    /// Opens the connection's window for bytes of a body.
    func consumeConnection(_ count: Int) { _ = unsafe nghttp2_session_consume_connection(session, count) }

    // MARK: Ends

    /// Announces that the connection will end; requests on their way are still served (RFC 9113 section 6.8).
    func submitShutdownNotice() { _ = unsafe nghttp2_submit_shutdown_notice(session) }

    /// Refuses streams that are newer than the last one that was begun.
    func submitGoAway() {
        _ = unsafe nghttp2_submit_goaway(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nghttp2_session_get_last_proc_stream_id(session),
            HTTP2Error.noError.rawValue, nil, 0)
    }

    /// Ends the connection with an error once the output is sent.
    func terminate(_ error: HTTP2Error) {
        isTerminated = true
        _ = unsafe nghttp2_session_terminate_session(session, error.rawValue)
    }
}

extension FieldBlock {
    /// Calls `body` with the fields in nghttp2's form, which are valid during the call.
    func withPairs<Result>(_ body: (UnsafeBufferPointer<nghttp2_nv>) -> Result) -> Result {
        // Safe: nghttp2 does not write to names and values, although its type says so.
        unsafe bytes.withUnsafeBufferPointer { block in
            let start = unsafe UnsafeMutablePointer(mutating: block.baseAddress)
            return unsafe withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: count) { pairs in
                var place = 0
                forEach { line in
                    let flag = line.isSensitive ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE
                    // Safe: there is room for each field, and the type needs no end.
                    unsafe pairs.initializeElement(
                        at: place,
                        to: nghttp2_nv(
                            name: start?.advanced(by: line.name.lowerBound),
                            value: start?.advanced(by: line.value.lowerBound),
                            namelen: line.name.count, valuelen: line.value.count, flags: UInt8(flag.rawValue))
                    )
                    place += 1
                }
                return unsafe body(UnsafeBufferPointer(pairs))
            }
        }
    }
}
