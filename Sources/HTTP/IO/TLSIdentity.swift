internal import COpenSSL
internal import Glibc

/// A checked certificate with its chain and its key.
// @unchecked proof: nothing changes after `init`; OpenSSL counts the references to certificates and keys
// atomically and guards what it derives from a certificate later by a lock of its own.
@safe final class TLSIdentity: @unchecked Sendable {
    // Owned: made in `init`, freed in `deinit`; passed only to calls that count a reference of their own.
    private let certificates: [OpaquePointer]
    private let key: OpaquePointer

    convenience init(_ files: TLSServerSettings.Files) throws(TLSError) {
        try self.init(certificate: files.certificate, privateKey: files.privateKey)
    }

    /// Reads two PEM files and checks that they fit together and are valid now.
    init(certificate: String, privateKey: String) throws(TLSError) {
        let certificates = try unsafe TLSPEM.certificates(TLSFile.read(certificate), of: certificate)
        let key: OpaquePointer
        do throws(TLSError) {
            unsafe key = try TLSPEM.privateKey(TLSFile.read(privateKey), of: privateKey)
        } catch {
            unsafe certificates.forEach { unsafe X509_free($0) }
            throw error
        }
        unsafe self.certificates = certificates
        unsafe self.key = key
        if let why = unsafe Self.fault(of: certificates[0]) { throw TLSError(certificate, why) }
        guard unsafe X509_check_private_key(certificates[0], key) == 1 else {
            TLSErrorQueue.clear()
            throw TLSError(privateKey, "is not the key of the certificate in \(certificate)")
        }
    }

    deinit {
        unsafe certificates.forEach { unsafe X509_free($0) }
        unsafe EVP_PKEY_free(key)
    }

    /// Puts certificate, chain and key into a context.
    func serve(_ context: OpaquePointer) -> Bool {
        // Safe: the context counts its own references.
        unsafe SSL_CTX_use_certificate(context, certificates[0]) == 1
            && SSL_CTX_use_PrivateKey(context, key) == 1
            && certificates.dropFirst().allSatisfy { unsafe dictum_ssl_add_chain(context, $0) == 1 }
    }

    /// True if the certificate is for this host (RFC 6125 section 6.4): by its exact name only, or also by a
    /// wildcard.
    func covers(_ host: UnsafePointer<CChar>, isExact: Bool) -> Bool {
        let flags = isExact ? X509_CHECK_FLAG_NO_WILDCARDS : X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS
        // Safe: the text is terminated, as the length of 0 says.
        return unsafe X509_check_host(certificates[0], host, 0, UInt32(bitPattern: flags), nil) == 1
    }

    /// The end of the certificate's validity in seconds since 1970.
    var endSeconds: Int { unsafe Self.seconds(X509_get0_notAfter(certificates[0])) ?? 0 }

    private static func fault(of certificate: OpaquePointer) -> String? {
        // Safe: the times belong to the certificate, which the caller holds.
        let (start, end) = unsafe (X509_get0_notBefore(certificate), X509_get0_notAfter(certificate))
        if unsafe X509_cmp_current_time(end) < 0 { return "expired on \(unsafe day(end))" }
        if unsafe X509_cmp_current_time(start) > 0 { return "is not valid before \(unsafe day(start))" }
        return nil
    }

    /// Returns a date in the form of ISO 8601.
    private static func day(_ time: UnsafePointer<ASN1_TIME>?) -> String {
        var parts = unsafe tm()
        // Safe: `parts` is local and outlives the call.
        guard unsafe ASN1_TIME_to_tm(time, &parts) == 1 else { return "a date that cannot be read" }
        let two = { (number: Int32) in number < 10 ? "0\(number)" : "\(number)" }
        return unsafe "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
    }

    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int? {
        var parts = unsafe tm()
        // Safe: `parts` is local and outlives both calls.
        guard unsafe ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
        return unsafe timegm(&parts)
    }
}
