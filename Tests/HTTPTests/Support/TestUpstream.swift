internal import Glibc
internal import TestSupport

@testable import HTTP

/// A listening socket whose connections a test serves by hand.
final class TestUpstream {
    /// The listening address.
    let endpoint: Endpoint
    private let descriptor: Descriptor

    /// Listens on a port that the system chooses.
    init(backlog: Int32 = 16, receiveBuffer: Int32? = nil) throws {
        let raw = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        descriptor = Descriptor(owning: raw)
        // Accepted sockets inherit both options.
        var time = timeval(tv_sec: 60, tv_usec: 0)
        // `time` is local and outlives the call.
        unsafe setsockopt(raw, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        if var receiveBuffer {
            // `receiveBuffer` is local and outlives the call.
            unsafe setsockopt(raw, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        guard unsafe withLoopbackAddress(port: 0, { unsafe bind(raw, $0, $1) }) == 0,
            listen(raw, backlog) == 0
        else {
            throw SystemError(code: errno)
        }
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        // The kernel writes at most `length` bytes, the size of an IPv4 socket address.
        unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = unsafe getsockname(raw, $0, &length)
            }
        }
        endpoint = .ip(try loopback(), port: UInt16(bigEndian: address.sin_port))
    }

    /// Accepts the next connection within a minute.
    func accept() throws -> Peer {
        let raw = closedOnExec(Glibc.accept(descriptor.raw, nil, nil))
        guard raw >= 0 else { throw SystemError(code: errno) }
        return Peer(owning: raw)
    }
}

/// Returns 127.0.0.1.
func loopback() throws -> IPAddress {
    guard let address = IPAddress("127.0.0.1") else { throw SystemError(code: EINVAL) }
    return address
}
