internal import HTTP

/// The transport between a browser and the first server, as far as it matters for dictionaries.
enum DoctorTransport: Equatable, Sendable {
    /// The machine itself: browsers use dictionaries there over http too, whatever the certificate.
    case loopback
    /// HTTP without TLS.
    case plain
    /// TLS; the certificate leads to an authority of the system.
    case systemAuthority
    /// TLS; the certificate leads only to the authority of `--ca`.
    case privateAuthority
    /// TLS; the certificate cannot be trusted, with the reason.
    case untrusted(String)

    /// Returns true if browsers take a host for the machine itself.
    static func isLoopback(_ host: String) -> Bool {
        let name = host.lowercased()
        // The check for digits and dots excludes names such as 127.example.com.
        let isIPv4 = name.hasPrefix("127.") && name.utf8.allSatisfy { $0 == 0x2E || 0x30...0x39 ~= $0 }
        return name == "localhost" || name.hasSuffix(".localhost") || name == "::1" || isIPv4
    }
}
