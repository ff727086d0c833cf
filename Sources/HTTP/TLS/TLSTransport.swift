internal import COpenSSL
internal import Glibc
internal import Primitives

/// A socket under TLS.
///
/// OpenSSL works on the socket itself, so that the cipher's copy of a body is the only one. To encrypt 256 KB
/// took 74 µs of processor time, and 280 by way of a BIO in memory.
@safe final class TLSTransport: ConnectionTransport {
    /// The maximum payload of one record (RFC 8446 section 5.1).
    private static let recordBytes = 16 * 1024
    /// The maximum that one call reads from the socket.
    ///
    /// OpenSSL processes records without data (RFC 8446 section 4.6.3) for as long as they come, so a peer that
    /// sends nothing else would occupy the loop.
    static let inputBytesMax = 64 * 1024
    /// The maximum of one flight of a handshake, which certificates make long.
    private static let flightBytesMax = 256 * 1024
    /// Idle connections hold no buffers; a write may be partial, and be repeated from another address.
    static let modes = Int(
        SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER)

    private let owned: Descriptor
    // Owned: made in `init`, freed in `deinit`.
    private let connection: OpaquePointer
    private let socket: UnsafeMutablePointer<TLSSocket>
    /// The object that OpenSSL's callbacks use while the connection lives.
    private let context: AnyObject
    /// The store for new sessions; nil on the server's side.
    private let sessions: (store: TLSSessions, upstream: TLSSessions.Upstream)?
    private var isEstablished = false
    /// The bytes that came before the handshake was complete; nil if they are not accepted or all have been
    /// read.
    private var early: TLSEarlyData?
    /// The bytes of a record that the socket has not taken whole; it is encrypted, so no others can take their place.
    private(set) var begunBytes = 0
    /// True once the connection has failed; then nothing more may be sent, not even the closure alert.
    private var isBroken = false
    private var isEndSent = false
    /// True while the closure alert waits for room in the socket.
    private var owesEnd = false

    /// Takes over the socket; `make` makes the state of the connection.
    ///
    /// Nil without memory.
    private init?(
        _ descriptor: consuming Descriptor, context: AnyObject,
        sessions: (store: TLSSessions, upstream: TLSSessions.Upstream)? = nil, make: () -> OpaquePointer?
    ) {
        guard let connection = unsafe make() else { return nil }
        let socket = UnsafeMutablePointer<TLSSocket>.allocate(capacity: 1)
        unsafe socket.initialize(to: TLSSocket(descriptor.raw))
        guard let bio = unsafe TLSSocketMethod.shared.open(socket) else {
            unsafe SSL_free(connection)
            unsafe socket.deinitialize(count: 1).deallocate()
            return nil
        }
        // Safe: the connection owns the BIO from here on, once for both directions.
        unsafe SSL_set_bio(connection, bio, bio)
        owned = descriptor
        unsafe self.connection = connection
        unsafe self.socket = socket
        self.context = context
        self.sessions = sessions
    }

    /// Makes the server's side of an accepted connection; nil without memory.
    convenience init?(_ descriptor: consuming Descriptor, serving context: TLSServerContext) {
        unsafe self.init(descriptor, context: context) { unsafe context.makeConnection() }
        if context.takesEarlyData { early = TLSEarlyData() }
    }

    /// Makes the client's side of a connection, which resumes an earlier session if there is one.
    ///
    /// Nil without memory.
    convenience init?(
        _ descriptor: consuming Descriptor, to upstream: TLSSessions.Upstream, by context: TLSClientContext,
        _ store: TLSSessions
    ) {
        unsafe self.init(descriptor, context: context, sessions: (store, upstream)) {
            unsafe context.makeConnection(to: upstream.host)
        }
        unsafe dictum_ssl_set_data(connection, socket)
        // Safe: the connection counts a reference of its own.
        if let session = unsafe store.find(upstream) { unsafe SSL_set_session(connection, session) }
    }

    /// Begins to connect to a server: over TLS, or in clear without a context.
    static func open(
        to endpoint: Endpoint, host: String, by context: TLSClientContext?, _ sessions: TLSSessions
    ) throws(SystemError) -> any ConnectionTransport {
        let descriptor = try Socket.connect(to: endpoint)
        guard let context else { return PlainTransport(descriptor) }
        let upstream = TLSSessions.Upstream(host: host, endpoint: endpoint)
        let transport = TLSTransport(descriptor, to: upstream, by: context, sessions)
        guard let transport else { throw SystemError(code: ENOMEM) }
        return transport
    }

    deinit {
        takeSession()
        if isEstablished, !isBroken, !isEndSent {
            TLSErrorQueue.clear()
            unsafe SSL_shutdown(connection)
        } else {
            // Otherwise OpenSSL takes the session for broken and never resumes it.
            unsafe SSL_set_shutdown(connection, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
        }
        unsafe SSL_free(connection)
        unsafe socket.deinitialize(count: 1).deallocate()
    }

    var descriptor: Int32 { owned.raw }

    /// The properties of the connection after the handshake.
    var facts: TLSFacts {
        TLSFacts(
            isResumed: unsafe SSL_session_reused(connection) == 1, clientSubject: peerSubject,
            isEarly: !isEstablished, isHTTP2: chosenProtocol == "h2")
    }

    /// The ALPN name on which both sides have agreed; empty without one.
    private var chosenProtocol: String {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        // Safe: the name belongs to the connection, and is copied.
        unsafe SSL_get0_alpn_selected(connection, &name, &count)
        return unsafe String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self)
    }

    private var peerSubject: String? {
        // Safe: the certificate belongs to the connection, and the text is copied before the BIO is freed.
        guard let certificate = unsafe SSL_get0_peer_certificate(connection),
            let bio = unsafe BIO_new(BIO_s_mem())
        else { return nil }
        defer { unsafe BIO_free(bio) }
        guard
            unsafe X509_NAME_print_ex(bio, X509_get_subject_name(certificate), 0, dictum_x509_name_form())
                >= 0
        else { return nil }
        var start: UnsafeMutablePointer<CChar>?
        let count = unsafe dictum_bio_memory(bio, &start)
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: max(0, count))
        return unsafe String(decoding: bytes, as: UTF8.self)
    }

    /// The public key of the peer's certificate (SubjectPublicKeyInfo in DER); nil without one.
    var peerKey: [UInt8]? {
        // Safe: certificate and key belong to the connection.
        guard let certificate = unsafe SSL_get0_peer_certificate(connection),
            let key = unsafe X509_get_X509_PUBKEY(certificate)
        else { return nil }
        let count = unsafe i2d_X509_PUBKEY(key, nil)
        guard count > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(count))
        // Safe: the buffer has the size that OpenSSL asked for; OpenSSL moves its own copy of the pointer.
        let written = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            var place = buffer.baseAddress
            return unsafe i2d_X509_PUBKEY(key, &place)
        }
        return written == count ? bytes : nil
    }

    /// Passes on a session that has come; with TLS 1.3 it comes after the handshake.
    private func takeSession() {
        guard let sessions, let session = unsafe socket.pointee.session else { return }
        unsafe socket.pointee.session = nil
        unsafe sessions.store.put(session, at: sessions.upstream)
    }

    // MARK: The handshake

    func establish() -> TLSHandshakeOutcome {
        guard !isEstablished else { return .done }
        TLSErrorQueue.clear()
        unsafe socket.pointee.allowance = Self.flightBytesMax
        // One packet for the flight; OpenSSL would send each ticket in a packet of its own.
        unsafe socket.pointee.holds = true
        var outcome = shakeHands()
        if outcome == .done || outcome == .early, let fault = resumptionFault {
            isBroken = true
            outcome = .failed(.certificate(fault))
        }
        unsafe socket.pointee.holds = false
        let isSent = unsafe socket.pointee.flush()
        if case .failed = outcome { return outcome }
        guard unsafe socket.pointee.error == 0 else {
            isBroken = true
            return .failed(.closed)
        }
        guard outcome == .done else { return outcome }
        guard isSent else { return .wouldBlock }
        isEstablished = true
        if early?.isEmpty == true { early = nil }
        takeSession()
        return .done
    }

    /// The fault of a client's certificate in a resumed session; nil for a valid one or none.
    ///
    /// No such ticket gets here (`TLSClientAuthority`), but sessions that this process keeps itself do.
    private var resumptionFault: String? {
        guard sessions == nil, unsafe SSL_session_reused(connection) == 1,
            let certificate = unsafe SSL_get0_peer_certificate(connection)
        else { return nil }
        return unsafe TLSIdentity.fault(of: certificate).map { "it \($0)" }
    }

    private func shakeHands() -> TLSHandshakeOutcome {
        if early?.isComing == true, let outcome = takeEarlyData() { return outcome }
        let code = unsafe SSL_do_handshake(connection)
        return code == 1 ? .done : handshakeOutcome(code)
    }

    /// Reads early data; nil once all of it has come.
    private func takeEarlyData() -> TLSHandshakeOutcome? {
        var buffer = [UInt8](repeating: 0, count: TLSEarlyData.bytesMax)
        while true {
            var count = 0
            // Safe: the callee writes at most as many bytes as the array holds.
            switch unsafe SSL_read_early_data(connection, &buffer, buffer.count, &count) {
            // OpenSSL ends the connection if the client sends more than `bytesMax`.
            case SSL_READ_EARLY_DATA_SUCCESS: early?.append(buffer[..<count])
            case SSL_READ_EARLY_DATA_FINISH:
                early?.end()
                return nil
            default: return handshakeOutcome(0)
            }
        }
    }

    private func handshakeOutcome(_ code: Int32) -> TLSHandshakeOutcome {
        switch unsafe SSL_get_error(connection, code) {
        case SSL_ERROR_WANT_READ where unsafe socket.pointee.allowance <= 0:
            isBroken = true
            return .failed(.refused("too many bytes for a handshake"))
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE:
            return early?.isEmpty == false ? .early : .wouldBlock
        default:
            isBroken = true
            return .failed(failure)
        }
    }

    private var failure: TLSFailure {
        let reason = TLSErrorQueue.reason
        if reason == SSL_R_HTTP_REQUEST || reason == SSL_R_HTTPS_PROXY_REQUEST { return .plainHTTP }
        let verified = unsafe SSL_get_verify_result(connection)
        if reason == SSL_R_CERTIFICATE_VERIFY_FAILED, verified != X509_V_OK {
            // Safe: the text is static.
            return .certificate(unsafe String(cString: X509_verify_cert_error_string(verified)))
        }
        if unsafe reason == 0 && (socket.pointee.isAtEnd || socket.pointee.error != 0) { return .closed }
        return .refused(TLSErrorQueue.take())
    }

    /// Sends bytes without TLS to a peer that does not speak it, and ends the connection.
    func sayInClear(_ bytes: [UInt8]) {
        // Safe: the kernel reads within the array and keeps no pointer.
        _ = unsafe Socket.send(descriptor, bytes, bytes.count)
        shutdown(descriptor, Int32(SHUT_WR))
    }

    // MARK: Bytes

    func read(into buffer: UnsafeMutableRawBufferPointer) -> ReadOutcome {
        if early != nil, let outcome = unsafe readEarly(into: buffer) { return outcome }
        guard let base = buffer.baseAddress else { return .wouldBlock }
        if owesEnd { closeWriting() }
        TLSErrorQueue.clear()
        unsafe socket.pointee.allowance = Self.inputBytesMax
        defer { takeSession() }
        var total = 0
        while total < buffer.count {
            var count = 0
            // Safe: there is room for the rest of the buffer.
            let code = unsafe SSL_read_ex(connection, base.advanced(by: total), buffer.count - total, &count)
            guard code == 1 else {
                let outcome = readOutcome(code)
                // The next read finds again what ended the connection.
                return total == 0 ? outcome : .bytes(total, mayHaveMore: outcome != .wouldBlock || owesEnd)
            }
            total += count
            let isDrained = unsafe SSL_has_pending(connection) == 0 && !socket.pointee.mayHaveMore
            if isDrained { return .bytes(total, mayHaveMore: owesEnd) }
        }
        return .bytes(total, mayHaveMore: true)
    }

    private func readEarly(into buffer: UnsafeMutableRawBufferPointer) -> ReadOutcome? {
        let count = unsafe early?.move(into: buffer) ?? 0
        if isEstablished, early?.isEmpty == true { early = nil }
        if count > 0 { return .bytes(count, mayHaveMore: true) }
        return isEstablished ? nil : .wouldBlock
    }

    private func readOutcome(_ code: Int32) -> ReadOutcome {
        switch unsafe SSL_get_error(connection, code) {
        case SSL_ERROR_WANT_READ where unsafe socket.pointee.allowance <= 0:
            return .bytes(0, mayHaveMore: true)
        case SSL_ERROR_WANT_READ: return owesEnd ? .wouldBlockUntilWritable : .wouldBlock
        case SSL_ERROR_WANT_WRITE: return .wouldBlockUntilWritable
        case SSL_ERROR_ZERO_RETURN: return .end
        default:
            if unsafe socket.pointee.isAtEnd { return .cutOff }
            isBroken = true
            return .failed(
                SystemError(code: unsafe socket.pointee.error == 0 ? EPROTO : socket.pointee.error))
        }
    }

    func write(_ first: Span<UInt8>, _ second: Span<UInt8>) -> WriteOutcome {
        TLSErrorQueue.clear()
        defer { unsafe socket.pointee.moreFollows = false }
        let total = first.count + second.count
        var written = 0
        while written < total {
            if !isEstablished, early?.mayRespond != true {
                return written > 0 ? .wrote(written) : .wouldBlock
            }
            var count = 0
            // One packet for several records: in single ones 256 KB woke the client up sixteen times.
            unsafe socket.pointee.moreFollows = isEstablished && total - written > Self.recordBytes
            let code = push(first, second, from: written, &count)
            guard code == 1 else {
                if begunBytes == 0 { begunBytes = min(total - written, Self.recordBytes) }
                return written > 0 ? .wrote(written) : writeOutcome(code)
            }
            begunBytes = 0
            written += count
        }
        return .wrote(written)
    }

    /// Writes one record.
    ///
    /// Always a full record while there are enough bytes: after a failed write OpenSSL wants the same bytes
    /// again, and no fewer.
    private func push(_ first: Span<UInt8>, _ second: Span<UInt8>, from offset: Int, _ count: inout Int)
        -> Int32
    {
        let left = first.count - offset
        if left <= 0 { return push(second, from: -left, &count) }
        if left >= Self.recordBytes || second.isEmpty { return push(first, from: offset, &count) }
        // Otherwise a head would be a record and a packet of its own.
        var record: [UInt8] = []
        record.reserveCapacity(Self.recordBytes)
        record.append(first.extracting(offset..<first.count))
        record.append(second.extracting(0..<min(second.count, Self.recordBytes - left)))
        return push(record.span, from: 0, &count)
    }

    private func push(_ bytes: Span<UInt8>, from offset: Int, _ count: inout Int) -> Int32 {
        let piece = bytes.extracting(offset..<min(bytes.count, offset + Self.recordBytes))
        // Safe: OpenSSL reads within the span and keeps no pointer that it would read from.
        return unsafe piece.withUnsafeBytes { piece in
            if isEstablished {
                return unsafe SSL_write_ex(connection, piece.baseAddress, piece.count, &count)
            }
            let code = unsafe SSL_write_early_data(connection, piece.baseAddress, piece.count, &count)
            if code == 1 { early?.responded(count) }
            return code
        }
    }

    private func writeOutcome(_ code: Int32) -> WriteOutcome {
        switch unsafe SSL_get_error(connection, code) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .wouldBlock
        default:
            isBroken = true
            return .failed(
                SystemError(code: unsafe socket.pointee.error == 0 ? EPROTO : socket.pointee.error))
        }
    }

    // MARK: Ends

    func closeWriting() {
        if isEstablished, !isBroken, !isEndSent {
            TLSErrorQueue.clear()
            let code = unsafe SSL_shutdown(connection)
            if code < 0, unsafe SSL_get_error(connection, code) == SSL_ERROR_WANT_WRITE {
                owesEnd = true
                return
            }
        }
        owesEnd = false
        isEndSent = true
        shutdown(descriptor, Int32(SHUT_WR))
    }

    func resetOnClose() {
        isBroken = true
        Socket.resetOnClose(descriptor)
    }
}
