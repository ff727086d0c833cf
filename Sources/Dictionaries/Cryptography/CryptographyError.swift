/// A failure of OpenSSL to seal or to draw random bytes: it is broken, or the system has no entropy.
struct CryptographyError: Error, CustomStringConvertible {
    /// The operation that failed, as a verb phrase.
    let operation: String

    var description: String { "OpenSSL failed to \(operation)" }
}
