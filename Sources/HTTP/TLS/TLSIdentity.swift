internal import COpenSSL
internal import Glibc

/// A checked certificate with its chain and its key.
// @unchecked proof: nothing changes after `init`; OpenSSL counts the references to certificates and keys
// atomically and guards what it derives from a certificate later by a lock of its own.
@safe final class TLSIdentity: @unchecked Sendable {
    // Owned: made in `init`, freed in `deinit`; passed only to calls that count a reference of their own.
    private let certificates: [OpaquePointer]
    private let key: OpaquePointer

    /// Reads two PEM files and checks that they fit together.
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
        guard unsafe X509_check_private_key(certificates[0], key) == 1 else {
            TLSErrorQueue.clear()
            throw TLSError(privateKey, "is not the key of the certificate in \(certificate)")
        }
    }

    deinit {
        unsafe certificates.forEach { unsafe X509_free($0) }
        unsafe EVP_PKEY_free(key)
    }

    /// True if OpenSSL serves it: it refuses short keys and weak signatures.
    var isServable: Bool {
        TLSErrorQueue.clear()
        guard let context = unsafe SSL_CTX_new(TLS_server_method()) else { return false }
        defer { unsafe SSL_CTX_free(context) }
        return unsafe serve(context)
    }

    /// Puts certificate, chain and key into a context.
    func serve(_ context: OpaquePointer) -> Bool {
        // Safe: the context counts its own references.
        unsafe SSL_CTX_use_certificate(context, certificates[0]) == 1
            && SSL_CTX_use_PrivateKey(context, key) == 1
            && certificates.dropFirst().allSatisfy { unsafe dictum_ssl_add_chain(context, $0) == 1 }
    }

    /// Reads a file with an OCSP response about the certificate.
    func staple(_ file: String) throws(TLSError) -> TLSStaple {
        try unsafe TLSStaple(
            file, for: certificates[0], issuer: certificates.count > 1 ? certificates[1] : nil)
    }

    /// True if the certificate is for this host (RFC 6125 section 6.4): by its exact name only, or also by a
    /// wildcard.
    func covers(_ host: UnsafePointer<CChar>, isExact: Bool) -> Bool {
        let flags = isExact ? X509_CHECK_FLAG_NO_WILDCARDS : X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS
        // Safe: the text is terminated, as the length of 0 says.
        return unsafe X509_check_host(certificates[0], host, 0, UInt32(bitPattern: flags), nil) == 1
    }

    /// Why the certificate is not valid now; nil if it is.
    var fault: String? { unsafe Self.fault(of: certificates[0]) }

    /// The end of the certificate's validity in seconds since 1970.
    var endSeconds: Int { unsafe Self.seconds(X509_get0_notAfter(certificates[0])) ?? 0 }

    /// Returns why a certificate is not valid now; nil if it is.
    static func fault(of certificate: OpaquePointer) -> String? {
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

    /// Returns a time in seconds since 1970.
    static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int? {
        var parts = unsafe tm()
        // Safe: `parts` is local and outlives both calls.
        guard unsafe ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
        return unsafe timegm(&parts)
    }
}

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

enum TLSFile {
    private static let bytesMax = 1 << 20

    /// Returns the bytes of a file of at most 1 MiB.
    static func read(_ path: String) throws(TLSError) -> [UInt8] {
        // Safe: the text is terminated, and used within the call.
        let raw = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard raw >= 0 else { throw TLSError(path, "cannot be read (\(SystemError.last.text))") }
        let file = Descriptor(owning: raw)
        var bytes = [UInt8](repeating: 0, count: bytesMax + 1)
        var count = 0
        while count < bytes.count {
            // Safe: the kernel writes at most into the rest of the array.
            let more = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe Glibc.read(file.raw, buffer.baseAddress?.advanced(by: count), buffer.count - count)
            }
            guard more >= 0 else { throw TLSError(path, "cannot be read (\(SystemError.last.text))") }
            if more == 0 { break }
            count += more
        }
        guard count <= bytesMax else { throw TLSError(path, "is larger than 1 MiB") }
        return Array(bytes[..<count])
    }
}

package enum SecretFile {
    /// Returns the first line of a file, without its end; an empty one is an error.
    package static func firstLine(of path: String) throws(TLSError) -> String {
        let line = try TLSFile.read(path).prefix { $0 != 10 && $0 != 13 }
        guard !line.isEmpty, let text = String(validating: line, as: UTF8.self) else {
            throw TLSError(path, "has no text in its first line")
        }
        return text
    }
}

/// The identity of a file's content and of who may read it; unequal stamps mean that the file has changed.
struct TLSFileStamp: Equatable, Sendable {
    private let inode: UInt64
    private let bytes: Int
    private let modified: [Int]
    /// Changes with owner, group and mode too, which decide whether this process can read it.
    private let changed: [Int]

    /// Takes the stamp of the file at a path; nil if there is none.
    init?(_ path: String) {
        var status = stat()
        // Safe: `status` is local and outlives the call.
        guard unsafe stat(path, &status) == 0 else { return nil }
        inode = UInt64(status.st_ino)
        bytes = Int(status.st_size)
        modified = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
        changed = [status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
    }
}
