/// The TLS settings of a listener.
package struct TLSServerSettings: Equatable, Sendable {
    /// The files of one certificate.
    package struct Files: Equatable, Sendable {
        /// The PEM file of the certificate, followed by its chain up to the root.
        package var certificate: String
        /// The PEM file of the key.
        package var privateKey: String
        /// The DER file of an OCSP response to staple; nil for none.
        package var ocsp: String?

        package init(certificate: String, privateKey: String, ocsp: String? = nil) {
            self.certificate = certificate
            self.privateKey = privateKey
            self.ocsp = ocsp
        }
    }

    /// The oldest protocol version that is accepted.
    package enum Version: Equatable, Sendable {
        case tls12, tls13
    }

    /// The need for a client certificate.
    package enum ClientAuthentication: Equatable, Sendable {
        case optional, required
    }

    /// The certificates; a client that names no host, or an unknown one, gets the first.
    package var certificates: [Files]
    package var minVersion = Version.tls12
    /// The PEM file of the authorities for clients' certificates; nil if clients are not asked for one.
    package var clientAuthority: String?
    package var clientAuthentication = ClientAuthentication.required
    /// True if requests are accepted before the handshake is complete (RFC 8446 section 2.3).
    package var earlyData = false

    package init(certificates: [Files]) {
        self.certificates = certificates
    }

    /// All files.
    var files: [String] {
        certificates.flatMap { [$0.certificate, $0.privateKey] + ($0.ocsp.map { [$0] } ?? []) }
            + (clientAuthority.map { [$0] } ?? [])
    }
}
