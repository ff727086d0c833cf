internal import CNghttp2

/// Receives the events of a client's frame engine while it reads; all of them concern the current request.
///
/// All calls come from within `receive`. The receiver may call the engine back, except for `receive` and `send`.
protocol ClientFrameEngineOwner: AnyObject {
    /// A field of a header section, its name in lower case and both checked by RFC 9113 section 8.2; valid during the
    /// call.
    func field(_ name: Span<UInt8>, _ value: Span<UInt8>)
    /// A header section is complete, and with it the response if it `endsStream`.
    func fieldsEnded(endsStream: Bool)
    /// A piece of the response's body; valid during the call.
    func data(_ bytes: Span<UInt8>)
    /// The body is complete, and has the length that the head has declared.
    func bodyEnded()
    /// The server has reset the stream.
    func serverReset(_ error: UInt32)
    /// The server takes no further request.
    func serverGoesAway(_ error: UInt32)
    /// The stream is over; nothing about it comes later.
    func closed(_ error: UInt32)
}

/// The frames, windows and header compression of an HTTP/2 connection on the client's side, by nghttp2; for one request
/// at a time.
///
/// Confined to its loop. Windows open by themselves as bytes come, since the receiver takes all of them.
@safe final class ClientFrameEngine {
    /// The bytes of a response that may be on their way.
    private static let windowBytes: Int32 = 1 << 20

    // Owned: made in `init`, freed in `deinit`.
    private let session: OpaquePointer
    private unowned let owner: any ClientFrameEngineOwner
    /// The stream of the current request; others can only be pushes that a server began before it knew our SETTINGS.
    private var stream: Int32 = 0

    /// Makes the client's side, and queues preface and SETTINGS; nil without memory.
    init?(owner: any ClientFrameEngineOwner, fieldBytesMax: Int) {
        self.owner = owner
        var made: OpaquePointer?
        // Safe: the object is not used by nghttp2 before the first `receive` or `send`, and frees the session before
        // it goes itself.
        guard let callbacks = unsafe Self.makeCallbacks() else { return nil }
        defer { unsafe nghttp2_session_callbacks_del(callbacks) }
        guard unsafe nghttp2_session_client_new(&made, callbacks, nil) == 0, let made = unsafe made else {
            return nil
        }
        unsafe session = made
        unsafe nghttp2_session_set_user_data(session, Unmanaged.passUnretained(self).toOpaque())
        submitSettings(fieldBytesMax: fieldBytesMax)
    }

    deinit { unsafe nghttp2_session_del(session) }

    private func submitSettings(fieldBytesMax: Int) {
        let entries = [
            nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0),
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue),
                value: UInt32(Self.windowBytes)),
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue),
                value: UInt32(fieldBytesMax)),
        ]
        // Safe: nghttp2 copies the entries during the call.
        _ = unsafe nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count)
        _ = unsafe nghttp2_session_set_local_window_size(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, Self.windowBytes)
    }

    /// Begins a request without content; returns false if there can be no more on this connection.
    func submit(_ fields: FieldBlock) -> Bool {
        unsafe fields.withPairs { pairs in
            // Safe: nghttp2 copies the pairs during the call.
            stream = unsafe nghttp2_submit_request(session, nil, pairs.baseAddress, pairs.count, nil, nil)
        }
        return stream > 0
    }

    // MARK: Bytes

    /// Reads the server's bytes; returns false once the session can be used no more.
    func receive(_ bytes: Span<UInt8>) -> Bool {
        // Safe: nghttp2 reads within the span and keeps no pointer.
        unsafe bytes.withUnsafeBufferPointer {
            unsafe nghttp2_session_mem_recv(session, $0.baseAddress, $0.count) >= 0
        }
    }

    /// Passes the next bytes for the server to `append`; returns how many, nil after an error.
    func send(_ append: (Span<UInt8>) -> Void) -> Int? { unsafe FrameEngine.send(from: session, append) }

    /// True until the connection has nothing left to read or to write, because either side has ended it.
    var isInUse: Bool {
        unsafe nghttp2_session_want_read(session) != 0 || nghttp2_session_want_write(session) != 0
    }

    // MARK: Callbacks

    /// Finds the engine of a callback.
    ///
    /// Safe: the session passes the pointer that `init` gave it, and ends before its engine.
    private static func engine(_ user: UnsafeMutableRawPointer?) -> ClientFrameEngine? {
        guard let user = unsafe user else { return nil }
        return unsafe Unmanaged<ClientFrameEngine>.fromOpaque(user).takeUnretainedValue()
    }

    private static func makeCallbacks() -> OpaquePointer? {
        var made: OpaquePointer?
        guard unsafe nghttp2_session_callbacks_new(&made) == 0, let callbacks = unsafe made else {
            return nil
        }
        unsafe nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _, frame, name, nameCount, value, valueCount, _, user in
            // Safe: nghttp2 passes a valid frame and valid bytes for the call.
            guard let engine = unsafe ClientFrameEngine.engine(user), let frame = unsafe frame?.pointee,
                unsafe frame.hd.stream_id == engine.stream,
                unsafe frame.hd.type == UInt8(NGHTTP2_HEADERS.rawValue)
            else { return 0 }
            let name = unsafe UnsafeBufferPointer(start: name, count: nameCount)
            let value = unsafe UnsafeBufferPointer(start: value, count: valueCount)
            unsafe engine.owner.field(name.span, value.span)
            return 0
        }
        // RFC 9113 section 8.2.1: such a field makes the response malformed; nghttp2 alone would drop the field.
        unsafe nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks) { _, _, _, _, _, _, _, _ in
            NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
        }
        unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) {
            _, _, stream, bytes, count, user in
            guard let engine = unsafe ClientFrameEngine.engine(user), stream == engine.stream else {
                return 0
            }
            // Safe: nghttp2 passes valid bytes for the call.
            unsafe engine.owner.data(UnsafeBufferPointer(start: bytes, count: count).span)
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
            // Safe: nghttp2 passes a valid frame for the call.
            guard let engine = unsafe ClientFrameEngine.engine(user), let frame = unsafe frame?.pointee else {
                return 0
            }
            unsafe engine.received(frame)
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, error, user in
            guard let engine = unsafe ClientFrameEngine.engine(user), stream == engine.stream else {
                return 0
            }
            engine.owner.closed(error)
            return 0
        }
        return unsafe callbacks
    }

    private func received(_ frame: nghttp2_frame) {
        // Safe: the type of a frame says which member of the union is set.
        guard unsafe frame.hd.stream_id == 0 || frame.hd.stream_id == stream else { return }
        let endsStream = unsafe frame.hd.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
        switch unsafe UInt32(frame.hd.type) {
        case NGHTTP2_HEADERS.rawValue: owner.fieldsEnded(endsStream: endsStream)
        case NGHTTP2_DATA.rawValue: if endsStream { owner.bodyEnded() }
        case NGHTTP2_RST_STREAM.rawValue: unsafe owner.serverReset(frame.rst_stream.error_code)
        case NGHTTP2_GOAWAY.rawValue: unsafe owner.serverGoesAway(frame.goaway.error_code)
        default: break
        }
    }
}
