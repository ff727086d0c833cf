package import HTTP

extension Configuration {
    /// How a listener speaks TLS.
    package struct TLS: Sendable, Equatable {
        /// The files of one certificate.
        package struct Certificate: Sendable, Equatable {
            /// The certificate and those that lead from it to the root, in PEM.
            package var certificate = ""
            /// Its key, in PEM.
            package var privateKey = ""
            /// An OCSP response in DER; nil for none.
            package var ocsp: String?
        }

        /// The certificate of a listener that has one.
        package var certificate: String?
        /// Its key.
        package var privateKey: String?
        /// Its OCSP response.
        package var ocsp: String?
        /// Further certificates, chosen by the name that the client asks for.
        package var certificates: [Certificate] = []
        /// The oldest version that is spoken.
        package var minVersion = TLSServerSettings.Version.tls12

        /// The authorities whose certificates clients may show, in PEM; nil where they are not asked.
        package var clientAuthority: String?
        /// Whether clients must show one.
        package var clientAuthentication = TLSServerSettings.ClientAuthentication.required
        /// The request field in which the upstream finds the subject of the client's certificate.
        package var clientSubjectField: String?
        /// Whether requests that ask for no change are answered before the handshake is whole (RFC 8446 section 2.3).
        package var takesEarlyData = false

        /// All of that for OpenSSL.
        package var settings: TLSServerSettings {
            var all = certificates
            if let certificate, let privateKey {
                all.insert(Certificate(certificate: certificate, privateKey: privateKey, ocsp: ocsp), at: 0)
            }
            var settings = TLSServerSettings(
                certificates: all.map {
                    .init(certificate: $0.certificate, privateKey: $0.privateKey, ocsp: $0.ocsp)
                })
            settings.minVersion = minVersion
            settings.clientAuthority = clientAuthority
            settings.clientAuthentication = clientAuthentication
            settings.earlyData = takesEarlyData
            return settings
        }
    }
}

extension Configuration {
    /// How the upstream is spoken to by TLS.
    package typealias UpstreamTLS = TLSClientSettings

    /// Looks at the files of the upstream's TLS, once all settings are read.
    func checkUpstreamTLS(_ reader: inout SettingsReader) {
        let tls = upstream.tls
        guard tls != UpstreamTLS(), let section = reader.node(of: "upstream.tls") else { return }
        guard (tls.certificate == nil) == (tls.privateKey == nil) else {
            return reader.report(
                "upstream.tls has one of two: expected certificate and private_key", at: section.position)
        }
        do throws(TLSError) {
            _ = try TLSClientContext(tls)
        } catch {
            let keys = [
                ("ca", tls.authority), ("certificate", tls.certificate), ("private_key", tls.privateKey),
            ]
            let key = keys.first { $0.1 == error.file }?.0
            let node = key.flatMap { reader.node(of: "upstream.tls.\($0)") } ?? section
            reader.report("upstream.tls: \(error.text): expected a valid file", at: node.position)
        }
    }
}

extension Configuration.Listener {
    /// Looks at what its settings say together, once all are read, and at the files that they name.
    mutating func check(_ reader: inout SettingsReader) {
        if tls != nil, let node = reader.node(of: "redirect"), redirectPort != nil {
            reader.report("redirect has no use beside tls: expected one of them", at: node.position)
        }
        if tls == nil, let node = reader.node(of: "hsts") {
            reader.report(
                "hsts has no use without tls: expected both (RFC 6797 section 7.2)", at: node.position)
        }
        guard let tls, let section = reader.node(of: "tls") else { return }
        let expected = "certificate and private_key, both, or certificates"
        guard tls.hasWholePairs else {
            return reader.descend("tls") {
                $0.reportUnexpected(section, expected: expected, because: "without a pair")
            }
        }
        if tls.clientAuthority == nil, let node = reader.node(of: "tls.client_subject_field") {
            reader.report(
                "tls.client_subject_field has no use without client_ca: expected both", at: node.position)
        }
        do throws(TLSError) {
            _ = try TLSServerContext(tls.settings, ticketKeys: TLSTicketKeys())
        } catch {
            let node =
                tls.keys.first { $0.path == error.file }.flatMap { reader.node(of: "tls.\($0.key)") }
                ?? section
            reader.report("tls: \(error.text): expected a valid certificate with its key", at: node.position)
        }
    }
}

extension Configuration.TLS {
    /// Whether there is a certificate at all, and none without its key.
    fileprivate var hasWholePairs: Bool {
        (certificate == nil) == (privateKey == nil) && (certificate != nil || !certificates.isEmpty)
            && (ocsp == nil || certificate != nil)
            && certificates.allSatisfy { !$0.certificate.isEmpty && !$0.privateKey.isEmpty }
    }

    /// The settings that name files, with what they name.
    fileprivate var keys: [(key: String, path: String?)] {
        [
            ("certificate", certificate), ("private_key", privateKey), ("ocsp", ocsp),
            ("client_ca", clientAuthority),
        ]
            + certificates.enumerated().flatMap { index, one in
                [("certificate", one.certificate), ("private_key", one.privateKey), ("ocsp", one.ocsp)].map {
                    ("certificates[\(index)].\($0.0)", $0.1)
                }
            }
    }
}
