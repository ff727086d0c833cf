package import HTTP
internal import Primitives

extension Configuration {
    package struct Listener: Sendable, Equatable {
        package var address: ConfiguredAddress
        package var protocols = HTTPProtocols.all

        package var proxyProtocol = false
        /// The TLS settings; nil for plain HTTP.
        package var tls: TLS?
        package var redirectPort: UInt16?
        package var strictTransportSecurity: String?
        package var alternativeServices: String?

        package var reusesPort = false
        /// True for Multipath TCP (RFC 8684).
        package var isMultipath = false
        /// The silence after which the kernel probes a connection; 0 for no probes.
        package var keepAlive = 60_000

        package init(address: ConfiguredAddress) { self.address = address }

        static let standard = Listener(address: .tcp(host: "127.0.0.1", port: 8080))
    }

    package struct TLS: Sendable, Equatable {
        package var certificate: String?
        package var privateKey: String?
        package var ocsp: String?
        /// All other settings of the server; its certificates are the further ones.
        package var server = TLSServerSettings(certificates: [])
        package var clientSubjectField: String?

        /// The setting `client_auth`; nil without an authority, since it has no effect then.
        var clientAuthentication: TLSServerSettings.ClientAuthentication? {
            get { server.clientAuthority == nil ? nil : server.clientAuthentication }
            set { if let newValue { server.clientAuthentication = newValue } }
        }

        /// The settings in the form that `TLSServerContext` takes.
        package func settings(_ protocols: HTTPProtocols) -> TLSServerSettings {
            var settings = server
            settings.protocols = protocols
            if let certificate, let privateKey {
                let first = TLSServerSettings.Files(
                    certificate: certificate, privateKey: privateKey, ocsp: ocsp)
                settings.certificates.insert(first, at: 0)
            }
            return settings
        }
    }
}

extension Settings {
    static let listener: [Setting<Configuration.Listener>] = [
        .value("address", \.address, .listenAddress, required: true, "The address to listen at."),
        .value(
            "protocols", \.protocols, .protocols,
            """
            The versions of HTTP that clients may choose: over TLS by ALPN, without TLS by the first bytes of the connection \
            (RFC 9113 section 3.3).
            """),
        .value(
            "proxy_protocol", \.proxyProtocol, .flag,
            """
            Every connection begins with a PROXY protocol header, version 1 or 2, and comes from a peer in trusted_proxies. \
            The header names the client.
            """),
        .value(
            "reuse_port", \.reusesPort, .flag,
            """
            Another process may listen at the same IP address and port and gets a part of the connections (SO_REUSEPORT). \
            Without it, an address in use is an error. To replace the running program, use SIGUSR2 instead.
            """),
        .sectionOrOff(
            "tls", \.tls, tls, fresh: Configuration.TLS(),
            "TLS on this listener. Dictum reads the files again on SIGHUP, and when they change."),
        .value(
            "redirect", \.redirectPort, .redirectOrOff, example: "https",
            "On a plain-HTTP listener: redirects to the same URL over https, on another port if one is given."
        ),
        .value(
            "hsts", \.strictTransportSecurity, .optional(.strictTransportSecurity),
            example: "max-age=31536000",
            """
            The Strict-Transport-Security field of responses over TLS, unless the upstream sends one (RFC 6797).
            """),
        .value(
            "alt_svc", \.alternativeServices, .optional(.alternativeServices),
            example: #"'h3=":443"; ma=86400'"#,
            """
            The Alt-Svc field of responses, unless the upstream sends one (RFC 7838): where clients reach the same hosts by \
            another protocol, such as HTTP/3.
            """),
        .value(
            "mptcp", \.isMultipath, .flag, onReload: .atNextStart,
            """
            Multipath TCP (RFC 8684), so that phones keep a connection when they change networks. If the kernel does not \
            support it, Dictum logs that and uses TCP.
            """),
        .value(
            "tcp_keepalive", \.keepAlive, .durationOrOff(1000...32_400_000, on: 60_000),
            """
            The silence after which the kernel probes a client. After four probes without a reply it closes the connection. \
            on stands for 1m.
            """),
    ]

    static let tls: [Setting<Configuration.TLS>] = [
        .value(
            "certificate", \.certificate, .optional(.path), example: "/etc/dictum/tls/fullchain.pem",
            "The certificate in PEM, followed by its intermediate certificates."),
        .value(
            "private_key", \.privateKey, .optional(.path), example: "/etc/dictum/tls/privkey.pem",
            "The key of the certificate in PEM, without a passphrase."),
        .value(
            "ocsp", \.ocsp, .optional(.path), example: "/etc/dictum/tls/ocsp.der",
            "An OCSP response in DER to send with the certificate."),
        .list(
            "certificates", \.server.certificates, certificate, fresh: .init(certificate: "", privateKey: ""),
            countMax: 64,
            """
            Further certificates. A client gets the first certificate with the exact name that it asks for, else the first \
            with a matching wildcard, else the first of all.
            """),
        .value(
            "min_version", \.server.minVersion, .choice(["1.2": .tls12, "1.3": .tls13]),
            "The oldest TLS version to accept."),
        .value(
            "client_ca", \.server.clientAuthority, .optional(.path), example: "/etc/dictum/tls/client-ca.pem",
            "The authorities for client certificates, in PEM. Without it, clients are not asked for one."),
        .value(
            "client_auth", \.clientAuthentication,
            .optional(.choice(["required": .required, "optional": .optional])), example: "required",
            "With client_ca: optional also accepts clients without a certificate."),
        .value(
            "client_subject_field", \.clientSubjectField, .optional(.fieldName), example: "x-client-subject",
            """
            The request field that tells the upstream the subject of the client's certificate (RFC 4514). Dictum removes it \
            from every incoming request.
            """),
        .value(
            "early_data", \.server.earlyData, .flag,
            """
            Accepts GET, HEAD and OPTIONS in the first bytes of a resumed TLS 1.3 session (0-RTT). Only for upstreams that \
            understand Early-Data and respond with 425 to requests that must not be replayed (RFC 8470).
            """),
    ]

    static let certificate: [Setting<TLSServerSettings.Files>] = [
        .value("certificate", \.certificate, .path, required: true, "As above."),
        .value("private_key", \.privateKey, .path, required: true, "As above."),
        .value("ocsp", \.ocsp, .optional(.path), example: "", "As above."),
    ]
}

extension SettingType where Value == HTTPProtocols {
    /// A set of versions of HTTP, by their ALPN names.
    static let protocols = {
        let words: KeyValuePairs<String, HTTPProtocols> = ["h2": .http2, "http/1.1": .http1]
        let list = SettingType<[HTTPProtocols]>.list(.choice(words), 1...words.count)
        return SettingType(
            expectation: list.expectation,
            read: { node, reader in list.read(node, &reader).map { HTTPProtocols($0) } },
            write: { value in list.write(words.map(\.value).filter(value.contains)) })
    }()
}

extension SettingType where Value == UInt16? {
    static let redirectOrOff = scalar(
        "off, https or https:PORT", write: { $0.map { $0 == 443 ? "https" : "https:\($0)" } ?? "off" },
        read: { text in
            if text.saysOff { return .some(nil) }
            if text == "https" { return 443 }
            guard text.hasPrefix("https:"), text.dropFirst(6).utf8.allSatisfy({ 0x30...0x39 ~= $0 }),
                let port = UInt16(text.dropFirst(6)), port > 0
            else { return nil }
            return port
        })
}

extension SettingType where Value == String {
    /// A Strict-Transport-Security value (RFC 6797 section 6.1).
    static let strictTransportSecurity = word(
        "a value of Strict-Transport-Security, such as \"max-age=31536000; includeSubDomains\""
    ) { text in
        let parts = text.split(separator: ";").map { $0.trimmed.lowercased() }.filter { !$0.isEmpty }
        let ages = parts.filter { $0.hasPrefix("max-age=") }
        let isKnown = parts.allSatisfy { ages.contains($0) || ["includesubdomains", "preload"].contains($0) }
        guard isKnown, ages.count == 1, let digits = ages.first?.utf8.dropFirst(8) else { return false }
        return 1...10 ~= digits.count && digits.allSatisfy(ASCII.isDigit) && Set(parts).count == parts.count
    }

    static let alternativeServices = word(#"a value of Alt-Svc, such as 'h3=":443"; ma=86400'"#) {
        AlternativeServices.areWellFormed($0)
    }
}

/// The syntax of Alt-Svc (RFC 7838 section 3), with the two parameters that it defines.
private enum AlternativeServices {
    static func areWellFormed(_ text: String) -> Bool {
        text == "clear"
            || text.split(separator: ",", omittingEmptySubsequences: false).allSatisfy { isOne($0) }
    }

    private static func isOne(_ text: Substring) -> Bool {
        var parts = text.split(separator: ";", omittingEmptySubsequences: false).map(\.trimmed)
        let service = parts.removeFirst().split(separator: "=", maxSplits: 1)
        guard service.count == 2, HeaderName(String(service[0])) != nil, isAuthority(service[1]) else {
            return false
        }
        return Set(parts).count == parts.count && parts.allSatisfy(isParameter)
    }

    /// Returns true for a quoted authority: an optional host, and a port.
    private static func isAuthority(_ text: Substring) -> Bool {
        guard text.utf8.count > 3, text.hasPrefix("\""), text.hasSuffix("\"") else { return false }
        let authority = text.dropFirst().dropLast()
        let name = HostAndPort(authority.hasPrefix(":") ? "host\(authority)" : String(authority))
        return name?.port.map { $0 > 0 } ?? false
    }

    private static func isParameter(_ text: String) -> Bool {
        if text == "persist=1" { return true }
        guard text.hasPrefix("ma=") else { return false }
        let digits = text.utf8.dropFirst(3)
        return 1...10 ~= digits.count && digits.allSatisfy(ASCII.isDigit)
    }
}
