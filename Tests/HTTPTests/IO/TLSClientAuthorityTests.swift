import TestSupport
import Testing

@testable import HTTP

/// The authorities that a listener takes clients' certificates from.
@Suite(.timeLimit(.minutes(40))) struct TLSClientAuthorityTests {
    private let certificates: TestCertificates

    init() throws {
        certificates = try TestCertificates()
        try certificates.issue("alice", names: "DNS:alice.test")
    }

    /// Connects with the certificate of that name, or with none, to a listener that trusts `ca.pem`.
    private func connect(
        _ authentication: TLSServerSettings.ClientAuthentication, with certificate: String?,
        isRefused: Bool = false
    ) throws -> TLSFacts {
        let pair = try TLSPair(certificates: certificates, isRefused: isRefused) { settings in
            settings.clientAuthority = certificates.file("ca.pem")
            settings.clientAuthentication = authentication
        } clientSettings: { settings in
            settings.certificate = certificate.map { $0 + ".pem" }
            settings.privateKey = certificate.map { $0 + ".key" }
        }
        return pair.server.facts
    }

    @Test func `a required certificate must be there, and the subject is known`() throws {
        let alice = certificates.file("alice")
        #expect(try connect(.required, with: alice).clientSubject == "CN=alice")
        _ = try connect(.required, with: nil, isRefused: true)
    }

    @Test func `an optional certificate may be missing, but not be another authority's`() throws {
        #expect(try connect(.optional, with: nil).clientSubject == nil)
        #expect(try connect(.optional, with: certificates.file("alice")).clientSubject == "CN=alice")
        let others = try TestCertificates()
        try others.issue("mallory", names: "DNS:mallory.test")
        _ = try connect(.optional, with: others.file("mallory"), isRefused: true)
    }

    @Test func `a file without a certificate is named in the error`() throws {
        try certificates.write("no certificate\n", to: "empty.pem")
        try certificates.write(
            "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n", to: "damaged.pem")
        for (name, reason) in [
            ("empty.pem", "has no certificate in PEM"), ("damaged.pem", "has a damaged certificate"),
            ("missing.pem", "cannot be read"),
        ] {
            let error = #expect(throws: TLSError.self) { try TLSClientAuthority(certificates.file(name)) }
            let text = error?.text ?? ""
            #expect(text.hasPrefix(certificates.file(name)) && text.contains(reason), "\(text)")
        }
    }
}
