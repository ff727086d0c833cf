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
        #expect(server.refresh() == .unchanged)
        // What chmod changes is neither content nor the time of the last write.
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o640], ofItemAtPath: certificates.file("server.key"))
        #expect(server.refresh() == .read)
        #expect(server.refresh() == .unchanged)
    }

    @Test func `what was refused is read again each minute, and told of once`() throws {
        let server = try server()
        // A busy machine takes longer.
        for seconds in [5, 30, 120] {
            try certificates.issue("later", names: "DNS:localhost", seconds: seconds...3_600)
            try certificates.copy("later.pem", to: "server.pem")
            try certificates.copy("later.key", to: "server.key")
            guard case .refused(let error) = server.refresh(now: 1_000) else { continue }
            #expect(error.reason.hasPrefix("is not valid before"))
            guard server.refresh(now: 61_000) == .unchanged else { continue }
            #expect(server.refresh(now: 120_999) == .unchanged)
            try waitUntil("its time has come") { (try? TLSIdentity(server.settings.certificates[0])) != nil }
            #expect(server.refresh(now: 120_999) == .unchanged)
            #expect(server.refresh(now: 121_000) == .read)
            return #expect(server.refresh(now: 500_000) == .unchanged)
        }
        Issue.record("the machine is too busy")
    }
}
