/// How an upstream is spoken to by TLS.
package struct TLSClientSettings: Equatable, Sendable {
    /// The authorities that its certificate must lead to, in PEM; nil for those of the system.
    package var authority: String?
    /// The certificate that it is shown, in PEM; nil for none.
    package var certificate: String?
    /// The key of that, in PEM.
    package var privateKey: String?
    /// Whether its certificate must be valid, and for its name.
    package var verifies = true

    package init() {}
}
