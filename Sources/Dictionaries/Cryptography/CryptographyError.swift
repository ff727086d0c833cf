/// The library refused to seal or to draw a random number: it is broken, or the system has no entropy.
struct CryptographyError: Error, CustomStringConvertible {
    /// What was to be done.
    let operation: String

    var description: String { "OpenSSL failed to \(operation)" }
}
