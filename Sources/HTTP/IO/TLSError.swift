internal import COpenSSL

/// Why TLS cannot be set up as the configuration says.
package struct TLSError: Error, Equatable, Sendable {
    /// The file at fault, as it is named in the configuration; nil where none is.
    package let file: String?
    /// What is wrong, without the file's name.
    package let reason: String

    init(_ file: String? = nil, _ reason: String) {
        self.file = file
        self.reason = reason
    }

    /// The error on one line.
    package var text: String { file.map { "\($0): \(reason)" } ?? reason }
}

/// The error queue of OpenSSL, which each thread has one of.
enum TLSErrorQueue {
    /// Empties the queue, so that what is in it after the next call is of that call.
    static func clear() { ERR_clear_error() }

    /// The reason of the oldest error, as a number of `SSL_R_…`; 0 where there is none.
    static var reason: Int32 {
        let code = ERR_peek_error()
        return ERR_GET_LIB(code) == ERR_LIB_SSL ? ERR_GET_REASON(code) : 0
    }

    /// Takes all errors; the text of the oldest, which is the cause of the others.
    static func take() -> String {
        let code = ERR_get_error()
        clear()
        // Safe: the text is static, and copied at once.
        guard code != 0, let text = unsafe ERR_reason_error_string(code) else { return "unknown error" }
        return unsafe String(cString: text)
    }
}
