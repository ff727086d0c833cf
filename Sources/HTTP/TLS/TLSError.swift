internal import COpenSSL

/// A reason why TLS cannot be set up as configured.
package struct TLSError: Error, Equatable, Sendable {
    /// The file at fault as in the configuration; nil if no file is.
    package let file: String?
    /// The fault, without the file's name.
    package let reason: String

    init(_ file: String? = nil, _ reason: String) {
        self.file = file
        self.reason = reason
    }

    package var text: String { file.map { "\($0): \(reason)" } ?? reason }
}

/// OpenSSL's error queue of the current thread.
enum TLSErrorQueue {
    /// Empties the queue, so that its content belongs to the next call.
    static func clear() {
        // Nearly always it is empty, and OpenSSL goes through it all the same.
        if ERR_peek_error() != 0 { ERR_clear_error() }
    }

    /// The reason of the oldest error, a number of `SSL_R_…`; 0 if there is none.
    static var reason: Int32 {
        let code = ERR_peek_error()
        return ERR_GET_LIB(code) == ERR_LIB_SSL ? ERR_GET_REASON(code) : 0
    }

    /// Empties the queue and returns the text of the oldest error, which caused the others.
    static func take() -> String {
        let code = ERR_get_error()
        clear()
        // Safe: the text is static, and copied at once.
        guard code != 0, let text = unsafe ERR_reason_error_string(code) else { return "unknown error" }
        return unsafe String(cString: text)
    }
}

/// The properties of a client's TLS connection.
package struct TLSFacts: Equatable, Sendable {
    package let isResumed: Bool
    /// The subject of the client's certificate (RFC 4514); nil without one.
    package let clientSubject: String?
    /// True if bytes came before the handshake was complete.
    package let isEarly: Bool
    /// True if the two sides have agreed on HTTP/2.
    package let isHTTP2: Bool
}

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
