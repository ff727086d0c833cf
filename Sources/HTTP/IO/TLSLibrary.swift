internal import COpenSSL

/// The process-wide settings of OpenSSL.
package enum TLSLibrary {
    /// Keeps OpenSSL's memory until the process ends.
    ///
    /// By default OpenSSL frees its locks in `exit` while loops and workers still use them, which crashed in
    /// `pthread_rwlock_unlock`. Call it before any other use; another call has no effect.
    package static func keepUntilTheEnd() {
        // This call cannot fail: it only omits something.
        _ = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
    }
}
