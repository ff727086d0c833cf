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

    @Test(arguments: [
        (false, false, true), (true, true, true), (false, true, false), (true, false, false),
    ])
    func `a session is resumed only where a certificate is required as it was before`(
        wasRequired: Bool, isRequired: Bool, isResumed: Bool
    ) throws {
        let (sessions, keys) = (TLSSessions(), TLSTicketKeys())
        func connect(_ isRequired: Bool, isRefused: Bool = false, named: Bool) throws -> TLSPair {
            try TLSPair(
                certificates: certificates, isRefused: isRefused, sessions: sessions, ticketKeys: keys
            ) {
                $0.clientAuthority = certificates.file("ca.pem")
                $0.clientAuthentication = isRequired ? .required : .optional
            } clientSettings: {
                guard named else { return }
                $0.certificate = certificates.file("alice.pem")
                $0.privateKey = certificates.file("alice.key")
            }
        }
        do {
            let first = try connect(wasRequired, named: wasRequired)
            let hello = [UInt8]("hello".utf8)
            #expect(first.server.write(hello.span, [UInt8]().span) == .wrote(hello.count))
            // With TLS 1.3 the session comes with the first bytes.
            var outcome = ReadOutcome.wouldBlock
            repeat { _ = first.client.take(&outcome) } while outcome == .wouldBlock
        }
        // Who has resumed a session is not asked again, with whatever certificate he comes.
        let isRefused = isRequired && !isResumed
        let second = try connect(isRequired, isRefused: isRefused, named: false)
        #expect(isRefused || second.server.facts.isResumed == isResumed)
        #expect(
            isRefused || second.server.facts.clientSubject == (isResumed && wasRequired ? "CN=alice" : nil))
    }

    @Test(arguments: [false, true])
    func `a session whose certificate has ended is not resumed, in a ticket or kept here`(isKept: Bool) throws
    {
        let files = TLSServerSettings.Files(
            certificate: certificates.file("server.pem"), privateKey: certificates.file("server.key"))
        var settings = TLSServerSettings(certificates: [files])
        settings.clientAuthority = certificates.file("ca.pem")
        // With early data sessions are not in tickets.
        settings.earlyData = isKept
        let sessions = TLSSessions()
        let context = try TLSServerContext(settings, ticketKeys: TLSTicketKeys())
        func connect(isRefused: Bool = false, named: Bool = false) throws -> Bool {
            let pair = try TLSPair(
                certificates: certificates, isRefused: isRefused, sessions: sessions, serving: context
            ) { _ in
            } clientSettings: {
                guard named else { return }
                $0.certificate = certificates.file("short.pem")
                $0.privateKey = certificates.file("short.key")
            }
            guard !isRefused else { return false }
            let hello = [UInt8]("hello".utf8)
            #expect(pair.server.write(hello.span, [UInt8]().span) == .wrote(hello.count))
            // The next session comes with the first bytes.
            var outcome = ReadOutcome.wouldBlock
            repeat { _ = pair.client.take(&outcome) } while outcome == .wouldBlock
            return pair.server.facts.isResumed
        }
        try certificates.issue("short", names: "DNS:short.test", seconds: -60...10)
        let short = TLSServerSettings.Files(
            certificate: certificates.file("short.pem"), privateKey: certificates.file("short.key"))
        #expect(try !connect(named: true))
        #expect(try connect())
        try waitUntil("the certificate has ended") { (try? TLSServed(valid: short)) == nil }
        _ = try connect(isRefused: true)
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
