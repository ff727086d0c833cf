internal import COpenSSL

/// What OpenSSL is told before its first use.
package enum TLSLibrary {
    /// Leaves what OpenSSL holds to the end of the process.
    ///
    /// By default it frees its locks in `exit`, while loops and workers still use them: seen as a crash in
    /// `pthread_rwlock_unlock`. To be called before any other use; another call has no effect.
    package static func keepUntilTheEnd() {
        // That it is to leave something out cannot fail.
        _ = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
    }
}
