/// The TLS settings for an upstream.
package struct TLSClientSettings: Equatable, Sendable {
    /// The PEM file of the authorities for the upstream's certificate; nil for those of the system.
    package var authority: String?
    /// The PEM file of the client certificate; nil for none.
    package var certificate: String?
    /// The PEM file of the client certificate's key.
    package var privateKey: String?
    /// True if the upstream's certificate must be valid for its name.
    package var verifies = true

    package init() {}
}
