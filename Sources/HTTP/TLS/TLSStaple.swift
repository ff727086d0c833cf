internal import COpenSSL
internal import Primitives

/// An OCSP response that is sent with a certificate (RFC 6960, RFC 6066 section 8), from its file.
struct TLSStaple: Sendable {
    let file: String
    let bytes: [UInt8]
    /// The time by which there is a newer one, in seconds since 1970; nil if the response does not say.
    private var endSeconds: Int?
    /// False if the response is about another certificate: often the former one, until a new response comes.
    private var isFitting = false

    /// Reads a response in DER; throws if it is none.
    ///
    /// Clients judge the status in it and verify its signature; Dictum does neither.
    init(_ file: String, for certificate: OpaquePointer, issuer: OpaquePointer?) throws(TLSError) {
        self.file = file
        bytes = try TLSFile.read(file)
        defer { TLSErrorQueue.clear() }
        // Safe: OpenSSL reads the array within the call, and moves its own copy of the pointer.
        let read = unsafe bytes.withUnsafeBufferPointer { buffer in
            var place = buffer.baseAddress
            return unsafe d2i_OCSP_RESPONSE(nil, &place, buffer.count)
        }
        guard let response = unsafe read else { throw TLSError(file, "is no OCSP response in DER") }
        // Safe, here and below: what is asked for belongs to the response, which is freed at the end.
        defer { unsafe OCSP_RESPONSE_free(response) }
        let status = unsafe OCSP_response_status(response)
        guard status == OCSP_RESPONSE_STATUS_SUCCESSFUL,
            let basic = unsafe OCSP_response_get1_basic(response)
        else {
            let text = unsafe String(cString: OCSP_response_status_str(Int(status)))
            throw TLSError(file, "has no answer of the OCSP server (\(text))")
        }
        defer { unsafe OCSP_BASICRESP_free(basic) }
        for place in unsafe 0..<OCSP_resp_count(basic) where !isFitting {
            guard let single = unsafe OCSP_resp_get0(basic, place),
                unsafe Self.isAbout(certificate, issuer, OCSP_SINGLERESP_get0_id(single))
            else { continue }
            var end: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
            unsafe OCSP_single_get0_status(single, nil, nil, nil, &end)
            endSeconds = unsafe end.flatMap { unsafe TLSIdentity.seconds($0) }
            isFitting = true
        }
    }

    /// Returns true if the response is about the certificate, and clients take it for the latest one.
    func isCurrent(now: Int = SystemClock.unixSeconds) -> Bool {
        isFitting && endSeconds.map { now <= $0 } ?? true
    }

    /// Compares the serial number and, if the chain has the issuer, its name and key.
    private static func isAbout(
        _ certificate: OpaquePointer, _ issuer: OpaquePointer?, _ id: OpaquePointer?
    ) -> Bool {
        guard let id = unsafe id else { return false }
        var serial: UnsafeMutablePointer<ASN1_INTEGER>?
        var digest: OpaquePointer?
        // Safe: serial number and digest belong to the response.
        unsafe OCSP_id_get0_info(nil, &digest, nil, &serial, id)
        guard unsafe ASN1_INTEGER_cmp(serial, X509_get0_serialNumber(certificate)) == 0 else { return false }
        guard let issuer = unsafe issuer else { return true }
        let method = unsafe EVP_get_digestbyname(OBJ_nid2sn(OBJ_obj2nid(digest)))
        guard let own = unsafe OCSP_cert_to_id(method, certificate, issuer) else { return false }
        defer { unsafe OCSP_CERTID_free(own) }
        return unsafe OCSP_id_cmp(own, id) == 0
    }
}
