/// How a listener speaks TLS.
package struct TLSServerSettings: Equatable, Sendable {
    /// The files of one certificate.
    package struct Files: Equatable, Sendable {
        /// The certificate in PEM, those that lead from it to the root behind it.
        package var certificate: String
        /// Its key in PEM.
        package var privateKey: String
        /// An OCSP response in DER, to be stapled; nil for none.
        package var ocsp: String?

        package init(certificate: String, privateKey: String, ocsp: String? = nil) {
            self.certificate = certificate
            self.privateKey = privateKey
            self.ocsp = ocsp
        }
    }

    /// The oldest version that is spoken.
    package enum Version: Equatable, Sendable {
        case tls12, tls13
    }

    /// Whether clients show a certificate of their own.
    package enum ClientAuthentication: Equatable, Sendable {
        case optional, required
    }

    /// The certificates; a client that names no host, or an unknown one, gets the first.
    package var certificates: [Files]
    package var minVersion = Version.tls12
    /// The authorities whose certificates clients may show, in PEM; nil where clients are not asked.
    package var clientAuthority: String?
    package var clientAuthentication = ClientAuthentication.required
    /// Whether requests are taken before the handshake is whole (RFC 8446 section 2.3).
    package var earlyData = false

    package init(certificates: [Files]) {
        self.certificates = certificates
    }

    /// Every file that is read.
    var files: [String] {
        certificates.flatMap { [$0.certificate, $0.privateKey] + ($0.ocsp.map { [$0] } ?? []) }
            + (clientAuthority.map { [$0] } ?? [])
    }
}
