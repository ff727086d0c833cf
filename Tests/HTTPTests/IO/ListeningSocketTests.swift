internal import Glibc
import Testing

@testable import HTTP

struct ListeningSocketTests {
    private func unixPath() -> String { "\(P_tmpdir)/dictum-\(UInt64.random(in: 0 ... .max)).sock" }

    private func remove(_ path: String) {
        // The text is terminated, and read before the call ends.
        unsafe _ = unlink(path)
    }

    @Test func `a port that is listened to cannot be opened a second time`() throws {
        let first = try ListeningSocket.open(.ip(try loopback(), port: 0), count: 1)
        #expect(throws: SystemError(code: EADDRINUSE)) {
            try ListeningSocket.open(first[0].endpoint, count: 1)
        }
    }

    @Test func `a port is free again once its sockets have gone`() throws {
        let endpoint = try ListeningSocket.open(.ip(try loopback(), port: 0), count: 2)[0].endpoint
        let again = try ListeningSocket.open(endpoint, count: 2)
        #expect(again.map(\.endpoint) == [endpoint, endpoint])
    }

    @Test func `each loop gets a socket of its own on the one port that the system chose`() throws {
        let sockets = try ListeningSocket.open(.ip(try loopback(), port: 0), count: 3)
        #expect(Set(sockets.map(\.raw)).count == 3)
        #expect(Set(sockets.map(\.endpoint)).count == 1)
        #expect(sockets[0].endpoint != .ip(try loopback(), port: 0))
    }

    @Test func `an address that is not ours cannot be listened to`() throws {
        // TEST-NET-1 (RFC 5737): bind refuses it, and nothing is sent.
        let elsewhere = try #require(IPAddress("192.0.2.1"))
        #expect(throws: SystemError(code: EADDRNOTAVAIL)) {
            try ListeningSocket.open(.ip(elsewhere, port: 0), count: 1)
        }
    }

    @Test func `a unix socket that somebody listens to is refused and stays in use`() throws {
        let path = unixPath()
        defer { remove(path) }
        let live = try ListeningSocket.open(.unix(path: path), count: 1)
        #expect(throws: SystemError(code: EADDRINUSE)) {
            try ListeningSocket.open(.unix(path: path), count: 1)
        }
        #expect(connects(to: path))
        withExtendedLifetime(live) {}
    }

    @Test func `a unix socket that nobody listens to any more is replaced`() throws {
        let path = unixPath()
        defer { remove(path) }
        do { _ = try ListeningSocket.open(.unix(path: path), count: 1) }
        #expect(!connects(to: path))
        let sockets = try ListeningSocket.open(.unix(path: path), count: 2)
        #expect(connects(to: path))
        #expect(Set(sockets.map(\.raw)).count == 1)
    }

    @Test func `a file at the path of a unix socket is left alone`() throws {
        let path = unixPath()
        defer { remove(path) }
        // The text is terminated, and read before the call ends.
        close(unsafe open(path, O_CREAT | O_WRONLY, 0o600))
        #expect(throws: SystemError(code: ENOTSOCK)) {
            try ListeningSocket.open(.unix(path: path), count: 1)
        }
        // The text is terminated, and read before the call ends.
        let isThere = unsafe access(path, F_OK) == 0
        #expect(isThere)
    }

    @Test func `the path of a unix socket may have 107 bytes, and one more is an error`() throws {
        let start = unixPath()
        let path = start + String(repeating: "a", count: 107 - start.utf8.count)
        defer { remove(path) }
        let sockets = try ListeningSocket.open(.unix(path: path), count: 1)
        #expect(connects(to: path))
        #expect(sockets.map(\.endpoint) == [.unix(path: path)])
        #expect(throws: SystemError(code: ENAMETOOLONG)) {
            try ListeningSocket.open(.unix(path: path + "a"), count: 1)
        }
    }

    private func connects(to path: String) -> Bool {
        let descriptor = Descriptor(owning: socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // The path is shorter than the field, as `unixPath` makes it.
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: wire(path)) }
        // A sockaddr_un has the layout of AF_UNIX addresses, and `address` outlives the call.
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor.raw, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }
}
