internal import Glibc
internal import TestSupport
internal import Testing

@testable import HTTP

/// Both ends of a TLS connection over loopback, which the test drives itself.
final class TLSPair {
    let server: TLSTransport
    let client: TLSTransport

    /// Connects and performs the handshake, which `isRefused` expects the server to fail.
    ///
    /// `nameCount` makes the certificate long; `sendBytes` limits the server's send buffer. A pair with the `sessions` and
    /// `ticketKeys` of an earlier one tries to resume its session; `serving` is the server's context if it is not made anew.
    init(
        nameCount: Int = 0, sendBytes: Int32? = nil, certificates: TestCertificates? = nil,
        isRefused: Bool = false, sessions: TLSSessions = TLSSessions(),
        ticketKeys: TLSTicketKeys = TLSTicketKeys(), serving: TLSServerContext? = nil,
        serverSettings: (inout TLSServerSettings) -> Void = { _ in },
        clientSettings: (inout TLSClientSettings) -> Void = { _ in }
    ) throws {
        let certificates = try certificates ?? TestCertificates()
        if nameCount > 0 {
            let names = (0..<nameCount).map { "DNS:a-long-name-\($0).test" }.joined(separator: ",")
            try certificates.issue("server", names: "DNS:localhost,\(names)")
        }
        let listener = try ListeningSocket.open(.ip(try loopback(), port: 0), count: 1)[0]
        let near = try Socket.connect(to: listener.endpoint)
        try TLSPair.wait(for: listener.raw)
        var peer = SocketAddress()
        let far = Descriptor(owning: Socket.accept(from: listener.raw, &peer))
        if var sendBytes {
            // Safe: the option is local and has the size that is named.
            let code = unsafe setsockopt(
                far.raw, SOL_SOCKET, SO_SNDBUF, &sendBytes, socklen_t(MemoryLayout<Int32>.size))
            try #require(code == 0)
        }
        let files = TLSServerSettings.Files(
            certificate: certificates.file("server.pem"), privateKey: certificates.file("server.key"))
        var server = TLSServerSettings(certificates: [files])
        serverSettings(&server)
        let serving = try serving ?? TLSServerContext(server, ticketKeys: ticketKeys)
        var settings = TLSClientSettings()
        settings.authority = certificates.file("ca.pem")
        clientSettings(&settings)
        let upstream = TLSSessions.Upstream(host: "localhost", endpoint: .ip(try loopback(), port: 0))
        let asking = try TLSClientContext(settings)
        guard let server = TLSTransport(far, serving: serving),
            let client = TLSTransport(near, to: upstream, by: asking, sessions)
        else { throw SystemError(code: ENOMEM) }
        (self.server, self.client) = (server, client)
        try shakeHands(isRefused: isRefused)
    }

    private func shakeHands(isRefused: Bool) throws {
        for _ in 0..<1000 {
            let outcomes = [client.establish(), server.establish()]
            if isRefused, case .failed = outcomes[1] { return }
            if outcomes == [.done, .done] { return try #require(!isRefused, "the client was let in") }
            try #require(outcomes.allSatisfy { $0 == .done || $0 == .wouldBlock }, "\(outcomes)")
            TLSPair.rest()
        }
        try #require(Bool(false), "no handshake")
    }

    /// Gives the kernel time to deliver.
    static func rest() { usleep(1000) }

    private static func wait(for raw: Int32) throws {
        var one = pollfd(fd: raw, events: Int16(POLLIN), revents: 0)
        // Safe: `one` is local and outlives the call.
        try #require(unsafe poll(&one, 1, 60_000) == 1)
    }
}

extension TLSTransport {
    /// Reads once; returns the bytes.
    func take(_ outcome: inout ReadOutcome) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 64 * 1024)
        // Safe: the transport writes within the array.
        outcome = unsafe bytes.withUnsafeMutableBytes { unsafe read(into: $0) }
        guard case .bytes(let count, _) = outcome else { return [] }
        return Array(bytes[..<count])
    }
}
