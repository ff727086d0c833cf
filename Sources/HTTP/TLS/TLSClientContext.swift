internal import COpenSSL

/// The TLS configuration for connections to upstreams.
///
/// Safe from any thread.
// @unchecked proof: nothing changes after `init`, and OpenSSL's context counts references and locks by itself.
@safe package final class TLSClientContext: @unchecked Sendable {
    // Owned: made in `init`, freed in `deinit`.
    private let context: OpaquePointer
    private let verifies: Bool
    /// The offered protocols by their ALPN names, each behind its length (RFC 7301 section 3.1).
    private let protocols: [UInt8]

    /// Reads every file; throws the first error.
    package init(_ settings: TLSClientSettings) throws(TLSError) {
        TLSErrorQueue.clear()
        guard let context = unsafe SSL_CTX_new(TLS_client_method()) else {
            throw TLSError(nil, "OpenSSL makes no context (\(TLSErrorQueue.take()))")
        }
        unsafe self.context = context
        verifies = settings.verifies
        protocols = settings.protocols.offeredNames.flatMap { [UInt8($0.count)] + $0 }
        unsafe SSL_CTX_set_options(context, dictum_ssl_options())
        unsafe dictum_ssl_set_mode(context, TLSTransport.modes)
        unsafe dictum_ssl_set_read_ahead(context)
        guard unsafe dictum_ssl_set_min_version(context, TLS1_2_VERSION) == 1 else {
            throw TLSError(nil, "OpenSSL refuses the settings (\(TLSErrorQueue.take()))")
        }
        // OpenSSL must keep no sessions: `keep` passes them to the connection's transport.
        unsafe dictum_ssl_set_cache_mode(
            context, Int(SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL_STORE))
        unsafe SSL_CTX_sess_set_new_cb(context, Self.keep)
        unsafe SSL_CTX_set_verify(context, verifies ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nil)
        if verifies { try trust(settings.authority) }
        if let certificate = settings.certificate, let key = settings.privateKey {
            let identity = try TLSIdentity(certificate: certificate, privateKey: key)
            if let fault = identity.fault { throw TLSError(certificate, fault) }
            guard unsafe identity.serve(context) else {
                throw TLSError(certificate, "is not accepted by OpenSSL (\(TLSErrorQueue.take()))")
            }
            // Some servers ask for it once they know the path (RFC 8446 section 4.6.2), never over HTTP/2 (RFC 9113 section 9.2.3).
            if settings.protocols == .http1 { unsafe SSL_CTX_set_post_handshake_auth(context, 1) }
        }
    }

    deinit { unsafe SSL_CTX_free(context) }

    private func trust(_ file: String?) throws(TLSError) {
        guard let file else {
            guard unsafe SSL_CTX_set_default_verify_paths(context) == 1 else {
                throw TLSError(nil, "the system's authorities cannot be read (\(TLSErrorQueue.take()))")
            }
            return
        }
        let found = try unsafe TLSPEM.certificates(TLSFile.read(file), of: file)
        defer { unsafe found.forEach { unsafe X509_free($0) } }
        // Safe: the store counts references of its own.
        let store = unsafe SSL_CTX_get_cert_store(context)
        guard unsafe found.allSatisfy({ unsafe X509_STORE_add_cert(store, $0) == 1 }) else {
            throw TLSError(file, "is not accepted by OpenSSL (\(TLSErrorQueue.take()))")
        }
    }

    /// Makes the state of a new connection to a host, which the caller owns; nil without memory.
    func makeConnection(to host: String) -> OpaquePointer? {
        guard let connection = unsafe SSL_new(context) else { return nil }
        let isAddress = IPAddress(host) != nil
        // Safe: OpenSSL copies name and list within the calls.
        var isSet = unsafe SSL_set_alpn_protos(connection, protocols, UInt32(protocols.count)) == 0
        // RFC 6066 section 3: addresses are not host names.
        if !isAddress { isSet = unsafe dictum_ssl_set_host_name(connection, host) == 1 && isSet }
        if verifies {
            unsafe SSL_set_hostflags(connection, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
            let isNamed =
                isAddress
                ? unsafe X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(connection), host)
                : unsafe SSL_set1_host(connection, host)
            isSet = isSet && isNamed == 1
        }
        // Without its name the certificate would not be checked.
        guard isSet else {
            unsafe SSL_free(connection)
            return nil
        }
        unsafe SSL_set_connect_state(connection)
        return unsafe connection
    }

    /// Passes a new session to its connection; the result 1 tells OpenSSL that the reference is taken.
    private static let keep: @convention(c) (OpaquePointer?, OpaquePointer?) -> Int32 = {
        connection, session in
        // Safe: the pointer is the transport's `TLSSocket`, which outlives the connection.
        guard let data = unsafe dictum_ssl_data(connection), let session = unsafe session else { return 0 }
        let socket = unsafe data.assumingMemoryBound(to: TLSSocket.self)
        unsafe SSL_SESSION_free(socket.pointee.session)
        unsafe socket.pointee.session = unsafe session
        return 1
    }
}

package struct TLSClientSettings: Equatable, Sendable {
    /// The PEM file of the authorities for the upstream's certificate; nil for those of the system.
    package var authority: String?
    /// The PEM file of the client certificate; nil for none.
    package var certificate: String?
    /// The PEM file of the client certificate's key.
    package var privateKey: String?
    /// True if the upstream's certificate must be valid for its name.
    package var verifies = true
    /// The versions of HTTP that the server may choose from, by ALPN.
    package var protocols = HTTPProtocols.http1

    package init() {}
}

/// The latest TLS session of one loop with each upstream, for the next handshake.
///
/// Confined to its loop.
@safe final class TLSSessions {
    struct Upstream: Hashable {
        let host: String
        let endpoint: Endpoint
    }

    private static let countMax = 1024

    // Owned: each is freed when it is replaced, forgotten, or with this object.
    private var sessions: [Upstream: OpaquePointer] = unsafe [:]

    deinit { forgetAll() }

    // Safe, here and below: a session is freed only when it leaves the dictionary.
    /// Returns the latest session, which this object keeps.
    func find(_ upstream: Upstream) -> OpaquePointer? { unsafe sessions[upstream] }

    /// Takes over a session in place of the former one.
    func put(_ session: OpaquePointer, at upstream: Upstream) {
        if unsafe sessions.count >= Self.countMax, unsafe sessions[upstream] == nil { forgetAll() }
        if let former = unsafe sessions.updateValue(session, forKey: upstream) {
            unsafe SSL_SESSION_free(former)
        }
    }

    /// Forgets all sessions, so that every connection makes a full handshake.
    private func forgetAll() {
        unsafe sessions.values.forEach { unsafe SSL_SESSION_free($0) }
        unsafe sessions = [:]
    }
}
