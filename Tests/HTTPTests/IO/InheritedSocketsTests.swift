internal import Glibc
import Testing

@testable import HTTP

struct InheritedSocketsTests {
    private static func ip(_ text: String, _ port: UInt16) -> Endpoint {
        IPAddress(text).map { .ip($0, port: port) } ?? .unix(path: "no address")
    }

    @Test func `each address gets the sockets that are bound to it, all of them`() {
        let claims = InheritedSockets.claims(
            of: [Self.ip("0.0.0.0", 80), Self.ip("::", 443), .unix(path: "/run/a")],
            on: [
                Self.ip("::", 443), .unix(path: "/run/a"), Self.ip("0.0.0.0", 80), Self.ip("127.0.0.1", 80),
                Self.ip("::", 443),
            ])
        #expect(claims == [[2], [0, 4], [1]])
    }

    @Test func `a free port takes what is left of its host, one port and never what another names`() {
        let free = Self.ip("127.0.0.1", 0)
        let offered = [
            Self.ip("127.0.0.1", 1), Self.ip("::1", 2), Self.ip("127.0.0.1", 3), Self.ip("127.0.0.1", 3),
        ]
        #expect(InheritedSockets.claims(of: [free, Self.ip("127.0.0.1", 1)], on: offered) == [[2, 3], [0]])
        #expect(InheritedSockets.claims(of: [free, free], on: offered) == [[0], [2, 3]])
        #expect(InheritedSockets.claims(of: [free, free, free], on: offered) == [[0], [2, 3], []])
    }

    @Test(arguments: [(1, 1), (1, 3), (2, 2), (3, 2), (2, 3), (5, 2)])
    func `every socket is served by a loop, and every loop has one`(sockets: Int, loops: Int) throws {
        let all = try ListeningSocket.open(.ip(try loopback(), port: 0), count: sockets)
        let shares = all.shares(loops)
        #expect(shares.count == loops)
        #expect(shares.allSatisfy { !$0.isEmpty })
        #expect(Set(shares.joined().map(\.raw)) == Set(all.map(\.raw)))
    }

    @Test func `what is inherited does not block and is not inherited further`() throws {
        let raw = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        try #require(listen(raw, 1) == 0)
        let inherited = try #require(ListeningSocket.inherited(raw))
        #expect(fcntl(raw, F_GETFL) & O_NONBLOCK != 0)
        #expect(fcntl(raw, F_GETFD) & FD_CLOEXEC != 0)
        guard case .ip(_, let port) = inherited.endpoint else {
            Issue.record("an address of the internet is one here, too")
            return
        }
        #expect(port != 0)
    }

    @Test func `only a stream socket that listens may be inherited`() {
        let connecting = Descriptor(owning: socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        let datagram = Descriptor(owning: socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0))
        #expect(ListeningSocket.inherited(connecting.raw) == nil)
        #expect(ListeningSocket.inherited(datagram.raw) == nil)
        #expect(ListeningSocket.inherited(-1) == nil)
        #expect(ListeningSocket.inherited(Int32.max) == nil)
    }
}
