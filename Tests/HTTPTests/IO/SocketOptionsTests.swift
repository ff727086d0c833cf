internal import Glibc
internal import TestSupport
import Testing

@testable import HTTP

/// The options of a listening socket and of a connection that it accepted, as the kernel reports them.
struct SocketOptionsTests {
    private func open(probeSeconds: Int = 60, isMultipath: Bool = false) throws -> ListeningSocket {
        let socket = try ListeningSocket.open(
            .ip(try loopback(), port: 0), count: 1, isMultipath: isMultipath)[0]
        socket.probePeers(afterSeconds: probeSeconds)
        return socket
    }

    private func option(_ name: Int32, _ level: Int32 = Int32(IPPROTO_TCP), of raw: Int32) -> Int32 {
        var (value, size) = (Int32(-1), socklen_t(4))
        // Both are local and outlive the call.
        return unsafe getsockopt(raw, level, name, &value, &size) == 0 ? value : -1
    }

    /// Reads options of an accepted connection.
    private func accepted(by listener: ListeningSocket, _ read: (Int32) -> [Int32]) throws -> [Int32] {
        let peer = try WireSocket(to: listener.endpoint)
        defer { withExtendedLifetime(peer) {} }
        var from = SocketAddress()
        let raw = Socket.accept(from: listener.raw, &from)
        try #require(raw >= 0)
        defer { close(raw) }
        return read(raw)
    }

    @Test(arguments: [false, true])
    func `accepted connections have no delay, and ask for a silent peer`(isMultipath: Bool) throws {
        let listener = try open(isMultipath: isMultipath)
        let values = try accepted(by: listener) { raw in
            [
                option(TCP_NODELAY, of: raw), option(SO_KEEPALIVE, SOL_SOCKET, of: raw),
                option(TCP_KEEPIDLE, of: raw), option(TCP_KEEPINTVL, of: raw), option(TCP_KEEPCNT, of: raw),
            ]
        }
        #expect(values == [1, 1, 60, 15, 4])
    }

    @Test func `who is never asked for stays for ever`() throws {
        let listener = try open(probeSeconds: 0)
        #expect(try accepted(by: listener) { [option(SO_KEEPALIVE, SOL_SOCKET, of: $0)] } == [0])
        // A later change applies to later connections.
        listener.probePeers(afterSeconds: 7)
        let values = try accepted(by: listener) { raw in
            [
                option(SO_KEEPALIVE, SOL_SOCKET, of: raw), option(TCP_KEEPIDLE, of: raw),
                option(TCP_KEEPINTVL, of: raw),
            ]
        }
        #expect(values == [1, 7, 1])
    }

    @Test func `Multipath TCP is spoken where it is wanted and the kernel has it, else TCP`() throws {
        let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 262)
        let isThere = probe >= 0
        if isThere { close(probe) }
        #expect(try open(isMultipath: true).isMultipath == isThere)
        #expect(try !open().isMultipath)
    }
}
