internal import COpenSSL

/// Reads certificates and keys in PEM (RFC 7468).
///
/// The caller owns and frees the results.
enum TLSPEM {
    /// Returns every certificate of a text in order; at least one.
    static func certificates(_ bytes: [UInt8], of file: String) throws(TLSError) -> [OpaquePointer] {
        TLSErrorQueue.clear()
        var found: [OpaquePointer] = unsafe []
        // Safe: the BIO reads the array within the call; the results are copies.
        unsafe bytes.withUnsafeBytes { buffer in
            guard let bio = unsafe BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count)) else {
                return
            }
            defer { unsafe BIO_free(bio) }
            while let one = unsafe PEM_read_bio_X509(bio, nil, nil, nil) { unsafe found.append(one) }
        }
        let code = ERR_peek_last_error()
        // OpenSSL reports the end of the text as an error of its own.
        let isAtEnd = ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE
        guard isAtEnd, unsafe !found.isEmpty else {
            unsafe found.forEach { unsafe X509_free($0) }
            let why =
                isAtEnd ? "has no certificate in PEM" : "has a damaged certificate (\(TLSErrorQueue.take()))"
            TLSErrorQueue.clear()
            throw TLSError(file, why)
        }
        TLSErrorQueue.clear()
        return unsafe found
    }

    /// Returns the private key of a text, which must not be encrypted.
    static func privateKey(_ bytes: [UInt8], of file: String) throws(TLSError) -> OpaquePointer {
        TLSErrorQueue.clear()
        // Safe: the BIO reads the array within the call. Without the callback OpenSSL would ask for a
        // passphrase on the terminal.
        let key: OpaquePointer? = unsafe bytes.withUnsafeBytes { buffer in
            guard let bio = unsafe BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count)) else {
                return nil
            }
            defer { unsafe BIO_free(bio) }
            return unsafe PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in -1 }, nil)
        }
        if let key = unsafe key { return unsafe key }
        let isEncrypted = String(decoding: bytes, as: UTF8.self).contains("ENCRYPTED")
        let why = TLSErrorQueue.take()
        throw TLSError(
            file,
            isEncrypted
                ? "is encrypted; a key without a passphrase is needed" : "has no private key in PEM (\(why))")
    }
}
