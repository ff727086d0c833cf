internal import Glibc

/// A listening socket of this machine whose connections a test accepts by hand.
package final class WireListener: Sendable {
    package let descriptor: Int32
    /// The port on 127.0.0.1; 0 for a socket at a path.
    package let port: UInt16

    /// Listens on a port, by default one that the system chooses.
    ///
    /// `receiveBytes` bounds what the kernel takes of a connection without being read; `isInherited` leaves the
    /// socket to child processes.
    package init(
        port wanted: UInt16 = 0, backlog: Int32 = 128, receiveBytes: Int32? = nil, isInherited: Bool = false
    ) throws {
        let descriptor = Self.socket(AF_INET, isInherited: isInherited)
        Self.set(SO_REUSEADDR, 1, of: descriptor)
        if let receiveBytes { Self.set(SO_RCVBUF, receiveBytes, of: descriptor) }
        // Safe: the pointer is used within the call.
        let code = unsafe withLoopbackAddress(port: wanted) { unsafe bind(descriptor, $0, $1) }
        try Self.listen(descriptor, code, backlog)
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        // Safe: the kernel writes at most `size` bytes, the size of an IPv4 socket address.
        unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = unsafe getsockname(descriptor, $0, &size)
            }
        }
        self.descriptor = descriptor
        port = UInt16(bigEndian: address.sin_port)
    }

    /// Listens at a path, which must be free.
    package init(path: String, backlog: Int32 = 128) throws {
        let descriptor = Self.socket(AF_UNIX, isInherited: false)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // Safe: the copy stays within the field, and leaves a NUL at its end.
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { field in
            unsafe field.copyBytes(from: path.utf8.prefix(field.count - 1))
        }
        // Safe: the pointer is used within the call; a sockaddr_un has the layout that AF_UNIX says.
        let code = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try Self.listen(descriptor, code, backlog)
        self.descriptor = descriptor
        port = 0
    }

    deinit { close(descriptor) }

    /// Accepts the next connection; waits for it at most a minute, or as long as is said (-1 for any time).
    package func accept(milliseconds: Int32 = 60_000) throws -> WireSocket {
        var awaited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        var count: Int32
        repeat {
            // Safe: `awaited` is local and outlives the call.
            count = unsafe poll(&awaited, 1, milliseconds)
        } while count < 0 && errno == EINTR
        guard count == 1 else { throw WireError.noConnection(count == 0 ? ETIMEDOUT : errno) }
        let accepted = Glibc.accept(descriptor, nil, nil)
        guard accepted >= 0 else { throw WireError.noConnection(errno) }
        return WireSocket(owning: closedOnExec(accepted))
    }

    /// What children inherit by chance counts against their limits, and keeps connections open.
    private static func socket(_ family: Int32, isInherited: Bool) -> Int32 {
        let type = SOCK_STREAM.rawValue | (isInherited ? 0 : SOCK_CLOEXEC.rawValue)
        return Glibc.socket(family, Int32(type), 0)
    }

    private static func set(_ option: Int32, _ value: Int32, of descriptor: Int32) {
        var value = value
        // Safe: `value` is local and outlives the call.
        unsafe setsockopt(descriptor, SOL_SOCKET, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Listens if `bindCode` says that the address was free; closes the socket otherwise.
    private static func listen(_ descriptor: Int32, _ bindCode: Int32, _ backlog: Int32) throws {
        guard bindCode == 0, Glibc.listen(descriptor, backlog) == 0 else {
            let code = errno
            close(descriptor)
            throw WireError.cannotListen(code)
        }
    }
}

/// Calls `body` with the socket address of 127.0.0.1 and a port.
func withLoopbackAddress(port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    // Safe: a sockaddr_in is what AF_INET says it is, and `address` outlives the call.
    return unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
}
