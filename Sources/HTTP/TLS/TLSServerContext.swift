internal import COpenSSL

/// The TLS configuration of a listener, from one state of its files.
///
/// Safe from any thread; connections hold the one that they began with.
// @unchecked proof: nothing changes after `init`, and OpenSSL's contexts count references and lock by
// themselves.
@safe package final class TLSServerContext: @unchecked Sendable {
    /// A certificate with OpenSSL's context for it.
    @safe private struct Choice {
        let served: TLSServed
        let context: OpaquePointer
    }

    // Owned: made in `init`, freed in `deinit`.
    private var choices: [Choice] = []
    private let ticketKeys: TLSTicketKeys
    /// True if requests are accepted before the handshake is complete.
    let takesEarlyData: Bool
    /// The accepted protocols by their ALPN names, the best first.
    private let protocolNames: [[UInt8]]

    package convenience init(_ settings: TLSServerSettings, ticketKeys: TLSTicketKeys) throws(TLSError) {
        try self.init(settings, TLSServed.all(of: settings), ticketKeys: ticketKeys)
    }

    /// Takes certificates that have been read, in the order of the settings.
    init(
        _ settings: TLSServerSettings, _ certificates: [TLSServed], ticketKeys: TLSTicketKeys
    ) throws(TLSError) {
        self.ticketKeys = ticketKeys
        takesEarlyData = settings.earlyData
        protocolNames = settings.protocols.names
        let clients = try settings.clientAuthority.map { file throws(TLSError) in try TLSClientAuthority(file)
        }
        for served in certificates {
            TLSErrorQueue.clear()
            guard let context = unsafe SSL_CTX_new(TLS_server_method()) else {
                throw TLSError(nil, "OpenSSL makes no context (\(TLSErrorQueue.take()))")
            }
            unsafe choices.append(Choice(served: served, context: context))
            try unsafe Self.configure(context, settings)
            try unsafe clients?.serve(context, settings.clientAuthentication)
            guard unsafe served.identity.serve(context) else {
                throw TLSError(served.file, "is not accepted by OpenSSL (\(TLSErrorQueue.take()))")
            }
            unsafe ticketKeys.serve(context)
            // Safe: the owner of a connection of the context holds this object.
            unsafe SSL_CTX_set_alpn_select_cb(
                context, Self.selectProtocol, Unmanaged.passUnretained(self).toOpaque())
            if served.staple != nil {
                unsafe dictum_ssl_on_status(context, Self.staple, Unmanaged.passUnretained(self).toOpaque())
            }
        }
        if choices.count > 1, let first = choices.first {
            // Safe: the owner of a connection of the context holds this object.
            unsafe dictum_ssl_on_server_name(
                first.context, Self.choose, Unmanaged.passUnretained(self).toOpaque())
        }
    }

    deinit {
        for choice in choices { unsafe SSL_CTX_free(choice.context) }
    }

    /// The end of the first certificate to expire, in seconds since 1970.
    package var endSeconds: Int { choices.map(\.served.identity.endSeconds).min() ?? 0 }

    /// The faults that clients find now in all certificates.
    package var complaints: [TLSError] { choices.flatMap(\.served.complaints) }

    /// Makes the state of a new connection, which the caller owns; nil without memory.
    func makeConnection() -> OpaquePointer? {
        guard let first = choices.first, let connection = unsafe SSL_new(first.context) else { return nil }
        unsafe SSL_set_accept_state(connection)
        return unsafe connection
    }

    // MARK: Settings

    /// Mozilla's "intermediate" ciphers of TLS 1.2 without finite fields: forward secret, authenticated
    /// encryption.
    private static let ciphers = """
        ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:\
        ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305
        """
    /// The ciphers of TLS 1.3 (RFC 8446 section 9.1), the cheapest first.
    private static let suites =
        "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
    /// The accepted signature algorithms, also for clients' certificates: none over SHA-1 or SHA-224.
    private static let signatures = """
        ecdsa_secp256r1_sha256:ecdsa_secp384r1_sha384:ecdsa_secp521r1_sha512:ed25519:ed448:\
        rsa_pss_rsae_sha256:rsa_pss_rsae_sha384:rsa_pss_rsae_sha512:\
        rsa_pss_pss_sha256:rsa_pss_pss_sha384:rsa_pss_pss_sha512:\
        rsa_pkcs1_sha256:rsa_pkcs1_sha384:rsa_pkcs1_sha512
        """
    private static let groups = "X25519:P-256:P-384"
    /// The life of a session: as long as the keys of its ticket are surely kept.
    private static let sessionSeconds =
        Int(TLSTicketKeys.periodMilliseconds / 1000) * TLSTicketKeyRing.formerMax
    /// Distinguishes the sessions of this program; those of clients with certificates have another context.
    private static let sessionContext = Array("dictum".utf8)

    private static func configure(_ context: OpaquePointer, _ settings: TLSServerSettings) throws(TLSError) {
        // The server's order of ciphers counts, except that a client with ChaCha20 first gets it: it has no
        // hardware for AES.
        unsafe SSL_CTX_set_options(context, dictum_ssl_options() | dictum_ssl_server_options())
        unsafe dictum_ssl_set_mode(context, TLSTransport.modes)
        // One system call per record instead of one for its head and one for the rest.
        unsafe dictum_ssl_set_read_ahead(context)
        let version = settings.minVersion == .tls13 ? TLS1_3_VERSION : TLS1_2_VERSION
        let isSet =
            unsafe dictum_ssl_set_min_version(context, version) == 1
            && SSL_CTX_set_cipher_list(context, ciphers) == 1
            && SSL_CTX_set_ciphersuites(context, suites) == 1 && dictum_ssl_set_groups(context, groups) == 1
            && dictum_ssl_set_signatures(context, signatures) == 1
            && SSL_CTX_set_session_id_context(context, sessionContext, UInt32(sessionContext.count)) == 1
        guard isSet else { throw TLSError(nil, "OpenSSL refuses the settings (\(TLSErrorQueue.take()))") }
        unsafe SSL_CTX_set_timeout(context, sessionSeconds)
        if settings.earlyData {
            // RFC 8446 section 8: a ticket is accepted once. OpenSSL then keeps sessions in memory, not in
            // tickets.
            unsafe SSL_CTX_set_max_early_data(context, UInt32(TLSEarlyData.bytesMax))
            unsafe SSL_CTX_set_recv_max_early_data(context, UInt32(TLSEarlyData.bytesMax))
            unsafe dictum_ssl_set_cache_mode(context, Int(SSL_SESS_CACHE_SERVER))
        } else {
            // The ticket contains the whole session.
            unsafe dictum_ssl_set_cache_mode(context, Int(SSL_SESS_CACHE_OFF))
        }
    }

    // MARK: Callbacks during a handshake

    /// RFC 7301 section 3.2: selects the best common protocol, or sends a fatal alert if there is none.
    private static let selectProtocol:
        @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, UnsafeMutablePointer<UInt8>?,
            UnsafePointer<UInt8>?, UInt32, UnsafeMutableRawPointer?
        ) -> Int32 = { _, chosen, chosenCount, offered, offeredCount, data in
            guard let data = unsafe data else { return SSL_TLSEXT_ERR_NOACK }
            // Safe: the object lives as long as the connection, whose owner holds both.
            let own = unsafe Unmanaged<TLSServerContext>.fromOpaque(data).takeUnretainedValue()
            // Safe: OpenSSL passes the client's list, whose form it has checked, and copies the chosen name.
            let list = unsafe UnsafeBufferPointer(start: offered, count: Int(offeredCount))
            for wanted in own.protocolNames {
                var place = 0
                while place < list.count {
                    let name =
                        unsafe min(place + 1, list.count)..<min(list.count, place + 1 + Int(list[place]))
                    if unsafe list[name].elementsEqual(wanted) {
                        unsafe chosen?.pointee = offered?.advanced(by: name.lowerBound)
                        unsafe chosenCount?.pointee = UInt8(name.count)
                        return SSL_TLSEXT_ERR_OK
                    }
                    place = name.upperBound
                }
            }
            return SSL_TLSEXT_ERR_ALERT_FATAL
        }

    /// RFC 6066 section 3: selects the certificate for the client's host name, else the first.
    private static let choose:
        @convention(c) (OpaquePointer?, UnsafeMutablePointer<Int32>?, UnsafeMutableRawPointer?) -> Int32 = {
            connection, _, data in
            guard let data = unsafe data,
                let host = unsafe SSL_get_servername(connection, TLSEXT_NAMETYPE_host_name)
            else { return SSL_TLSEXT_ERR_NOACK }
            // Safe: the object lives as long as the connection, whose owner holds both.
            let own = unsafe Unmanaged<TLSServerContext>.fromOpaque(data).takeUnretainedValue()
            let choice =
                own.choices.first { unsafe $0.served.identity.covers(host, isExact: true) }
                ?? own.choices.first { unsafe $0.served.identity.covers(host, isExact: false) }
            guard let choice else { return SSL_TLSEXT_ERR_NOACK }
            unsafe SSL_set_SSL_CTX(connection, choice.context)
            return SSL_TLSEXT_ERR_OK
        }

    /// RFC 6066 section 8: staples the OCSP response of the certificate in use.
    private static let staple: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = {
        connection, data in
        guard let data = unsafe data, let context = unsafe SSL_get_SSL_CTX(connection) else {
            return SSL_TLSEXT_ERR_NOACK
        }
        // Safe: as in `choose`; OpenSSL takes over the memory, which its own allocator made.
        let own = unsafe Unmanaged<TLSServerContext>.fromOpaque(data).takeUnretainedValue()
        // A client may end the connection over one that is too old.
        guard let staple = own.choices.first(where: { unsafe $0.context == context })?.served.staple,
            staple.isCurrent(), case let response = staple.bytes,
            let copy = unsafe dictum_openssl_malloc(response.count)
        else { return SSL_TLSEXT_ERR_NOACK }
        unsafe copy.copyMemory(from: response, byteCount: response.count)
        unsafe dictum_ssl_set_ocsp_response(connection, copy, response.count)
        return SSL_TLSEXT_ERR_OK
    }
}

/// The certificate authorities that clients' certificates must come from.
@safe final class TLSClientAuthority {
    private let file: String
    // Owned: made in `init`, freed in `deinit`.
    private let certificates: [OpaquePointer]
    private let fileBytes: [UInt8]

    init(_ file: String) throws(TLSError) {
        let bytes = try TLSFile.read(file)
        self.file = file
        fileBytes = bytes
        unsafe certificates = try TLSPEM.certificates(bytes, of: file)
    }

    deinit { unsafe certificates.forEach { unsafe X509_free($0) } }

    /// Makes the context ask clients for a certificate.
    func serve(
        _ context: OpaquePointer, _ authentication: TLSServerSettings.ClientAuthentication
    ) throws(TLSError) {
        var mode = SSL_VERIFY_PEER
        if authentication == .required { mode |= SSL_VERIFY_FAIL_IF_NO_PEER_CERT }
        unsafe SSL_CTX_set_verify(context, mode, nil)
        // Safe: store and list count references of their own.
        let store = unsafe SSL_CTX_get_cert_store(context)
        let isSet = unsafe certificates.allSatisfy {
            unsafe X509_STORE_add_cert(store, $0) == 1 && SSL_CTX_add_client_CA(context, $0) == 1
        }
        let name = sessionContext(authentication)
        let isNamed = unsafe SSL_CTX_set_session_id_context(context, name, UInt32(name.count)) == 1
        let isWatched = unsafe SSL_CTX_set_session_ticket_cb(context, nil, Self.judgeTicket, nil) == 1
        guard isSet, isNamed, isWatched else {
            throw TLSError(file, "is not accepted by OpenSSL (\(TLSErrorQueue.take()))")
        }
    }

    /// Refuses the ticket of a session whose certificate is not valid any more, so that a whole handshake follows.
    private static let judgeTicket:
        @convention(c) (
            OpaquePointer?, OpaquePointer?, UnsafePointer<UInt8>?, Int, SSL_TICKET_STATUS,
            UnsafeMutableRawPointer?
        ) -> SSL_TICKET_RETURN = { _, session, _, _, status, _ in
            guard status == SSL_TICKET_SUCCESS || status == SSL_TICKET_SUCCESS_RENEW else {
                return SSL_TICKET_RETURN_IGNORE_RENEW
            }
            // Safe: the certificate belongs to the session, which OpenSSL holds during the call.
            if let certificate = unsafe SSL_SESSION_get0_peer(session),
                unsafe TLSIdentity.fault(of: certificate) != nil
            {
                return SSL_TICKET_RETURN_IGNORE_RENEW
            }
            return status == SSL_TICKET_SUCCESS ? SSL_TICKET_RETURN_USE : SSL_TICKET_RETURN_USE_RENEW
        }

    /// Returns the name of the sessions that may be resumed under these authorities.
    ///
    /// A resumed handshake asks for no certificate. So a session that other authorities have admitted is not resumed, and
    /// one that may have none is not where it is required; all listeners open each other's tickets.
    private func sessionContext(_ authentication: TLSServerSettings.ClientAuthentication) -> [UInt8] {
        let named = fileBytes + (authentication == .required ? "required" : "optional").utf8
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        // Safe: the callee reads the bytes and writes 32 bytes of SHA-256.
        unsafe SHA256(named, named.count, &digest)
        return digest
    }
}
