internal import CNghttp2
internal import Primitives

/// The events of nghttp2, passed on to the owner.
extension FrameEngine {
    /// Calls `body` with the engine of a callback, which is not retained for that; nil without one.
    ///
    /// Safe: the session passes the pointer that `init` gave it, and ends before its engine.
    private static func with<Result>(
        _ user: UnsafeMutableRawPointer?, _ body: (FrameEngine) -> Result
    ) -> Result? {
        guard let user = unsafe user else { return nil }
        return unsafe Unmanaged<FrameEngine>.fromOpaque(user)._withUnsafeGuaranteedRef(body)
    }

    static func makeCallbacks() -> OpaquePointer? {
        var made: OpaquePointer?
        guard unsafe nghttp2_session_callbacks_new(&made) == 0, let callbacks = unsafe made else {
            return nil
        }
        unsafe nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, user in
            // Safe: nghttp2 passes a valid frame for the call; a HEADERS frame has a category.
            guard let frame = unsafe frame?.pointee.headers else { return 0 }
            unsafe FrameEngine.with(user) {
                unsafe $0.owner.fieldsBegan(
                    stream: frame.hd.stream_id, areTrailers: frame.cat != NGHTTP2_HCAT_REQUEST)
            }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _, frame, name, nameCount, value, valueCount, _, user in
            // Safe: nghttp2 passes valid bytes for the call. A push, which a server may begin before it knows our SETTINGS,
            // has the number of the request's stream too.
            guard let head = unsafe frame?.pointee.hd, head.type == UInt8(NGHTTP2_HEADERS.rawValue) else {
                return 0
            }
            let name = unsafe UnsafeBufferPointer(start: name, count: nameCount)
            let value = unsafe UnsafeBufferPointer(start: value, count: valueCount)
            let goesOn = unsafe FrameEngine.with(user) {
                unsafe $0.owner.field(name.span, value.span, stream: head.stream_id)
            }
            return goesOn == false ? NGHTTP2_ERR_CALLBACK_FAILURE.rawValue : 0
        }
        // RFC 9113 section 8.2.1: such a field makes the message malformed; nghttp2 alone would drop the field.
        unsafe nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks) { _, _, _, _, _, _, _, _ in
            NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
        }
        unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
            // Safe: nghttp2 passes a valid frame for the call.
            guard let frame = unsafe frame?.pointee else { return 0 }
            unsafe FrameEngine.with(user) { unsafe $0.received(frame) }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) {
            _, _, stream, bytes, count, user in
            // Safe: nghttp2 passes valid bytes for the call.
            let bytes = unsafe UnsafeBufferPointer(start: bytes, count: count)
            unsafe FrameEngine.with(user) { unsafe $0.owner.data(bytes.span, stream: stream) }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_extension_chunk_recv_callback(callbacks) {
            _, _, bytes, count, user in
            // Safe: nghttp2 passes valid bytes for the call; PRIORITY_UPDATE is the only extension that it passes on.
            let bytes = unsafe UnsafeBufferPointer(start: bytes, count: count)
            unsafe FrameEngine.with(user) { unsafe $0.collect(bytes.span) }
            return 0
        }
        // Without it nghttp2 would skip the payload.
        unsafe nghttp2_session_callbacks_set_unpack_extension_callback(callbacks) { _, _, _, _ in 0 }
        unsafe nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, user in
            // Safe: nghttp2 passes a valid frame for the call; its kind says which member of the union is set.
            guard let frame = unsafe frame?.pointee else { return 0 }
            var sent = unsafe HTTP2Frame(frame.hd)
            if sent.kind == .reset { sent.error = unsafe frame.rst_stream.error_code }
            unsafe FrameEngine.with(user) { $0.owner.frameSent(sent) }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, error, user in
            unsafe FrameEngine.with(user) { $0.owner.closed(stream: stream, error: error) }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_send_data_callback(callbacks) {
            _, frame, head, count, _, user in
            // Safe: nghttp2 passes a valid frame, and a head of nine bytes, for the call.
            guard let stream = unsafe frame?.pointee.hd.stream_id else {
                return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue
            }
            let head = unsafe UnsafeBufferPointer(start: head, count: HTTP2Frame.headBytes)
            let outcome = unsafe FrameEngine.with(user) {
                unsafe $0.owner.writeData(head: head.span, count: count, stream: stream)
            }
            switch outcome {
            case .written: return 0
            case .writtenAndFull: return NGHTTP2_ERR_PAUSE.rawValue
            case .gone: return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
            case nil: return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue
            }
        }
        return unsafe callbacks
    }

    private func received(_ frame: nghttp2_frame) {
        // Safe: the kind of a frame says which member of the union is set.
        let head = unsafe HTTP2Frame(frame.hd)
        switch head.kind {
        case .headers:
            if unsafe frame.headers.cat == NGHTTP2_HCAT_REQUEST {
                owner.headEnded(stream: head.stream, endsStream: head.endsStream)
            } else {
                owner.fieldsEnded(stream: head.stream, endsStream: head.endsStream)
            }
        case .data:
            if head.endsStream { owner.bodyEnded(stream: head.stream) }
        case .reset:
            unsafe owner.peerReset(stream: head.stream, error: frame.rst_stream.error_code)
        case .goAway:
            unsafe owner.peerGoesAway(frame.goaway.error_code)
        case .priorityUpdate:
            receivedPriorityUpdate(on: head.stream)
        case .priority, .continuation, .other: break
        }
    }

    /// Keeps the bytes of a PRIORITY_UPDATE, and of one that is too long no more than show that.
    private func collect(_ bytes: Span<UInt8>) {
        let room = HTTP2Frame.streamBytes + Priority.fieldBytesMax + 1 - priorityUpdate.count
        priorityUpdate.append(bytes.extracting(0..<min(room, bytes.count)))
    }

    private func receivedPriorityUpdate(on carrier: Int32) {
        var payload: [UInt8] = []
        swap(&payload, &priorityUpdate)
        guard carrier == 0 else { return owner.terminate(.protocolError) }
        guard payload.count >= HTTP2Frame.streamBytes else { return owner.terminate(.frameSizeError) }
        // The highest bit is reserved.
        let stream = payload[..<HTTP2Frame.streamBytes].reduce(Int32(0)) { ($0 & 0x7f_ffff) << 8 | Int32($1) }
        owner.prioritized(stream: stream, payload.span.extracting(HTTP2Frame.streamBytes..<payload.count))
    }

    static let readBody: nghttp2_data_source_read_callback = {
        _, stream, _, countMax, flags, _, user in
        // Safe: nghttp2 passes valid flags for the call. Nothing is written to its buffer: the bytes go out through
        // `writeData`.
        guard let flags = unsafe flags,
            let part = unsafe FrameEngine.with(
                user, { $0.owner.bodyReady(stream: stream, countMax: countMax) })
        else { return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue) }
        unsafe flags.pointee |= UInt32(NGHTTP2_DATA_FLAG_NO_COPY.rawValue)
        switch part {
        case .none: return Int(NGHTTP2_ERR_DEFERRED.rawValue)
        case .bytes(let count, let isEnd):
            if isEnd { unsafe flags.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue) }
            return count
        case .endBeforeTrailers(let count):
            unsafe flags.pointee |=
                UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue) | UInt32(NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue)
            return count
        }
    }
}

extension HTTP2Frame {
    fileprivate init(_ head: nghttp2_frame_hd) {
        self.init(type: head.type, flags: head.flags, stream: head.stream_id, length: head.length)
    }
}
