package import HTTP

extension Configuration {
    /// The TLS settings of a listener.
    package struct TLS: Sendable, Equatable {
        /// The files of one certificate.
        package struct Certificate: Sendable, Equatable {
            /// The certificate chain without the root, in PEM.
            package var certificate = ""
            /// The private key, in PEM.
            package var privateKey = ""
            /// An OCSP response in DER; nil for none.
            package var ocsp: String?
        }

        /// The certificate chain of the first certificate.
        package var certificate: String?
        package var privateKey: String?
        package var ocsp: String?
        /// Further certificates, chosen by the server name that a client sends.
        package var certificates: [Certificate] = []
        /// The oldest TLS version to accept.
        package var minVersion = TLSVersion.tls12

        /// The authorities for client certificates, in PEM; nil if clients are not asked for one.
        package var clientAuthority: String?
        /// Requires or merely accepts client certificates.
        package var clientAuthentication = TLSServerSettings.ClientAuthentication.required
        /// The request field that tells the upstream the subject of the client's certificate.
        package var clientSubjectField: String?
        /// True if safe requests may arrive as early data (RFC 8446 section 2.3).
        package var takesEarlyData = false

        /// The settings in the form that `TLSServerContext` takes.
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
    /// The TLS settings for upstreams.
    package typealias UpstreamTLS = TLSClientSettings

    /// Checks the upstream's TLS files after all settings have been read.
    func checkUpstreamTLS(_ reader: inout SettingsReader) {
        let tls = upstream.tls
        guard tls != UpstreamTLS(), let section = reader.node(of: "upstream.tls") else { return }
        guard (tls.certificate == nil) == (tls.privateKey == nil) else {
            return reader.report(
                "upstream.tls has only one of certificate and private_key: expected both or neither",
                at: section.position)
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
    /// Checks how the listener's settings fit together after all have been read, and the files that they name.
    mutating func check(_ reader: inout SettingsReader) {
        if tls != nil, let node = reader.node(of: "redirect"), redirectPort != nil {
            reader.report(
                "redirect has no effect on a listener with tls: expected one of them", at: node.position)
        }
        if tls == nil, let node = reader.node(of: "hsts") {
            reader.report(
                "hsts has no effect without tls (RFC 6797 section 7.2): expected both or neither",
                at: node.position)
        }
        guard let tls, let section = reader.node(of: "tls") else { return }
        let expected = "both certificate and private_key, or certificates"
        guard tls.hasWholePairs else {
            return reader.descend("tls") {
                $0.reportUnexpected(section, expected: expected, because: "a certificate or a key is missing")
            }
        }
        if tls.clientAuthority == nil, let node = reader.node(of: "tls.client_subject_field") {
            reader.report(
                "tls.client_subject_field has no effect without client_ca: expected both or neither",
                at: node.position)
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
    /// True if there is a certificate, and every certificate has its key.
    fileprivate var hasWholePairs: Bool {
        (certificate == nil) == (privateKey == nil) && (certificate != nil || !certificates.isEmpty)
            && (ocsp == nil || certificate != nil)
            && certificates.allSatisfy { !$0.certificate.isEmpty && !$0.privateKey.isEmpty }
    }

    /// The file settings with their values.
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
