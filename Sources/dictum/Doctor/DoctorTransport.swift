internal import HTTP

/// What lies between a browser and the first server, as far as it decides about dictionaries.
enum DoctorTransport: Equatable, Sendable {
    /// The machine itself: browsers use dictionaries there, by http too, and whatever the certificate.
    case loopback
    /// HTTP without TLS.
    case plain
    /// TLS, and the certificate leads to an authority of the system.
    case systemAuthority
    /// TLS, and the certificate leads only to the authority of `--ca`.
    case privateAuthority
    /// TLS, and the certificate cannot be trusted, by the reason.
    case untrusted(String)

    /// Whether a host is the machine itself, as browsers tell it.
    static func isLoopback(_ host: String) -> Bool {
        let name = host.lowercased()
        // Digits and dots: a name such as 127.example.com is none.
        let isIPv4 = name.hasPrefix("127.") && name.utf8.allSatisfy { $0 == 0x2E || 0x30...0x39 ~= $0 }
        return name == "localhost" || name.hasSuffix(".localhost") || name == "::1" || isIPv4
    }
}
