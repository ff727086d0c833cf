internal import COpenSSL

/// The certificate authorities that clients' certificates must come from.
@safe final class TLSClientAuthority {
    private let file: String
    // Owned: made in `init`, freed in `deinit`.
    private let certificates: [OpaquePointer]
    /// Distinguishes the sessions under these authorities from others.
    private let sessionContext: [UInt8]

    init(_ file: String) throws(TLSError) {
        let bytes = try TLSFile.read(file)
        self.file = file
        unsafe certificates = try TLSPEM.certificates(bytes, of: file)
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        // Safe: the callee reads the bytes and writes 32 bytes of SHA-256.
        unsafe SHA256(bytes, bytes.count, &digest)
        sessionContext = digest
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
        // A session that one set of authorities admitted is not resumed under another.
        let isNamed =
            unsafe SSL_CTX_set_session_id_context(context, sessionContext, UInt32(sessionContext.count)) == 1
        guard isSet, isNamed else {
            throw TLSError(file, "is not accepted by OpenSSL (\(TLSErrorQueue.take()))")
        }
    }
}
