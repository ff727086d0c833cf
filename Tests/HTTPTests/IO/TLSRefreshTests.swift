import Foundation
import TestSupport
import Testing

@testable import HTTP

/// When the files of a listener are read again.
@Suite(.timeLimit(.minutes(40))) struct TLSRefreshTests {
    private let certificates: TestCertificates

    init() throws { certificates = try TestCertificates() }

    private func server() throws -> TLSServer {
        let files = TLSServerSettings.Files(
            certificate: certificates.file("server.pem"), privateKey: certificates.file("server.key"))
        return try TLSServer(TLSServerSettings(certificates: [files]), ticketKeys: TLSTicketKeys())
    }

    @Test func `a file that gets other rights is read again`() throws {
        let server = try server()
        #expect(server.refresh() == [])
        // What chmod changes is neither content nor the time of the last write.
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o640], ofItemAtPath: certificates.file("server.key"))
        #expect(server.refresh() == [.read])
        #expect(server.refresh() == [])
    }

    @Test func `what was refused is read again each minute, and told of once`() throws {
        let server = try server()
        // A busy machine takes longer.
        for seconds in [5, 30, 120] {
            try certificates.issue("later", names: "DNS:localhost", seconds: seconds...3_600)
            try certificates.copy("later.pem", to: "server.pem")
            try certificates.copy("later.key", to: "server.key")
            guard case .refused(let error)? = server.refresh(now: 1_000).first else { continue }
            #expect(error.reason.hasPrefix("is not valid before"))
            guard server.refresh(now: 61_000) == [] else { continue }
            #expect(server.refresh(now: 120_999) == [])
            try waitUntil("its time has come") {
                (try? TLSServed(valid: server.settings.certificates[0])) != nil
            }
            #expect(server.refresh(now: 120_999) == [])
            #expect(server.refresh(now: 121_000) == [.read])
            return #expect(server.refresh(now: 500_000) == [])
        }
        Issue.record("the machine is too busy")
    }

    @Test func `what is renewed while another file is wrong is in use once that is right`() throws {
        try certificates.copy("ca.pem", to: "clients.pem")
        var settings = TLSServerSettings(certificates: [
            .init(certificate: certificates.file("server.pem"), privateKey: certificates.file("server.key"))
        ])
        settings.clientAuthority = certificates.file("clients.pem")
        let server = try TLSServer(settings, ticketKeys: TLSTicketKeys())
        let end = server.current.endSeconds
        try certificates.write("half", to: "clients.pem")
        #expect(server.refresh().count == 1)
        try certificates.issue("server", names: "DNS:localhost", days: 90)
        #expect(server.refresh().count == 1, "the authority is wrong still")
        #expect(server.current.endSeconds == end)
        try certificates.copy("ca.pem", to: "clients.pem")
        #expect(server.refresh() == [.read])
        #expect(server.current.endSeconds > end)
    }

    @Test func `what is complained of is told once, also while another file is refused`() throws {
        try certificates.issue("left", names: "DNS:left.test", days: -1)
        let files = ["server", "left"].map {
            TLSServerSettings.Files(
                certificate: certificates.file("\($0).pem"), privateKey: certificates.file("\($0).key"))
        }
        let server = try TLSServer(TLSServerSettings(certificates: files), ticketKeys: TLSTicketKeys())
        try certificates.write("half", to: "server.key")
        #expect(server.refresh(now: 1_000).count == 1)
        #expect(server.refresh(now: 2_000).count == 1, "of the one that has expired")
        for minute in 1...3 { #expect(server.refresh(now: Int64(minute) * 61_000) == []) }
        #expect(server.refresh(now: 200_000) == [])
    }

    @Test func `a certificate that nobody renews keeps no other one of its listener from being renewed`()
        throws
    {
        try certificates.issue("left", names: "DNS:left.test", days: -1)
        let files = ["server", "left"].map {
            TLSServerSettings.Files(
                certificate: certificates.file("\($0).pem"), privateKey: certificates.file("\($0).key"))
        }
        let server = try TLSServer(TLSServerSettings(certificates: files), ticketKeys: TLSTicketKeys())
        #expect(server.current.complaints.map(\.file) == [files[1].certificate])
        let ends = server.current.endSeconds
        #expect(server.refresh() == [], "the check of the configuration has told of it")
        try certificates.issue("server", names: "DNS:localhost", days: 90)
        #expect(server.refresh() == [.read])
        // Another one that is no better is refused by itself.
        try certificates.issue("left", names: "DNS:left.test", days: -1)
        let news = server.refresh()
        #expect(news.count == 1)
        guard case .refused(let error)? = news.first else { return #expect(news == []) }
        #expect(error.file == files[1].certificate && error.reason.hasPrefix("expired on"))
        try certificates.issue("server", names: "DNS:localhost", days: 91)
        #expect(server.refresh().contains(.read))
        #expect(server.current.endSeconds == ends)
        try certificates.issue("left", names: "DNS:left.test", days: 30)
        #expect(server.refresh() == [.read])
        #expect(server.current.endSeconds > ends && server.refresh() == [])
    }
}
