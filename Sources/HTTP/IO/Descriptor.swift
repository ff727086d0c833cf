internal import CLinux
internal import Glibc

/// An open file descriptor with a single owner, which closes it at its end.
package struct Descriptor: ~Copyable, Sendable {
    /// The number, valid while the owner lives.
    package let raw: Int32

    /// Takes ownership of `raw`, which must be open.
    package init(owning raw: Int32) {
        self.raw = raw
    }

    deinit {
        // EINTR needs no retry: on Linux the number is free whatever close returns.
        close(raw)
    }
}

/// An errno with the system's text.
package struct SystemError: Error, Equatable, Sendable {
    package let code: Int32

    package init(code: Int32) {
        self.code = code
    }

    /// The error of the last failed call on this thread.
    static var last: SystemError { SystemError(code: errno) }

    /// True if this machine lacks a resource, so that other peers cannot be reached either.
    package var isOurs: Bool { [EMFILE, ENFILE, ENOBUFS, ENOMEM, EADDRNOTAVAIL].contains(code) }

    /// True if this process lacks a right.
    package var isForbidden: Bool { code == EACCES || code == EPERM }

    /// True if a file that is no socket has the path of a Unix socket.
    package var isNoSocket: Bool { code == ENOTSOCK }

    /// The system's text, such as `Address already in use`.
    package var text: String {
        // Safe: strerror's text is static or thread local here, and copied at once.
        guard let text = unsafe strerror(code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }
}

// MARK: - Calls of sockets

/// The calls of sockets that several types need; the caller owns the descriptors.
enum Socket {
    /// Opens a stream socket that does not block and is closed by `exec`; IP sockets send without delay.
    static func open(_ family: Int32, protocolNumber: Int32 = 0) throws(SystemError) -> Descriptor {
        let type = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
        let raw = socket(family, Int32(bitPattern: type), protocolNumber)
        guard raw >= 0 else { throw .last }
        if family != AF_UNIX { setOption(raw, Int32(IPPROTO_TCP), TCP_NODELAY, 1) }
        return Descriptor(owning: raw)
    }

    /// Begins to connect; `Connecting` sees to the rest.
    static func connect(to endpoint: Endpoint) throws(SystemError) -> Descriptor {
        let descriptor = try open(try SocketAddress(endpoint).family)
        _ = try connect(descriptor.raw, to: endpoint)
        return descriptor
    }

    /// Begins to connect; false if the listener of a Unix socket has no room, which the system does not wait for.
    static func connect(_ raw: Int32, to endpoint: Endpoint) throws(SystemError) -> Bool {
        let address = try SocketAddress(endpoint)
        let code = unsafe address.pass { unsafe Glibc.connect(raw, $0, $1) }
        if code == 0 || errno == EINPROGRESS { return true }
        guard errno == EAGAIN, case .unix = endpoint else { throw .last }
        return false
    }

    /// True if the socket is connected.
    static func hasPeer(_ raw: Int32) -> Bool {
        var peer = SocketAddress()
        return unsafe peer.fill { unsafe getpeername(raw, $0, $1) } == 0
    }

    /// Accepts a connection, and fills the peer's address in; -1 and errno on failure.
    static func accept(from listener: Int32, _ peer: inout SocketAddress) -> Int32 {
        unsafe peer.fill { unsafe CLinux_accept(listener, $0, $1) }
    }

    /// Sets an option; an error does not matter where a kernel or a kind of socket lacks it.
    static func setOption(_ raw: Int32, _ level: Int32, _ name: Int32, _ value: Int32) {
        var value = value
        // Safe: `value` is local and outlives the call.
        unsafe setsockopt(raw, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Returns an option; nil if the socket lacks it.
    static func option(_ raw: Int32, _ level: Int32, _ name: Int32) -> Int32? {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        // Safe: both are local and outlive the call.
        return unsafe getsockopt(raw, level, name, &value, &size) == 0 ? value : nil
    }

    /// Returns the error of an asynchronous call such as `connect`, 0 for none.
    static func pendingError(_ raw: Int32) -> Int32 { option(raw, SOL_SOCKET, SO_ERROR) ?? errno }

    /// Returns the number of sent bytes that the peer has not acknowledged; 0 if that is unknown.
    static func unacknowledgedBytes(_ raw: Int32) -> Int {
        var count: Int32 = 0
        // Safe: `count` is local and outlives the call. For sockets TIOCOUTQ is SIOCOUTQ.
        return unsafe ioctl(raw, UInt(TIOCOUTQ), &count) == 0 ? max(0, Int(count)) : 0
    }

    /// Sends a delayed acknowledgement now; other sockets than TCP have none.
    static func acknowledgeNow(_ raw: Int32) { setOption(raw, Int32(IPPROTO_TCP), TCP_QUICKACK, 1) }

    /// Limits the bytes that the system holds unsent, so that the order of later ones still counts.
    static func limitUnsent(_ raw: Int32, to count: Int) {
        setOption(raw, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, Int32(count))
    }

    /// Makes the coming close a reset, so that the peer cannot take the data for complete.
    static func resetOnClose(_ raw: Int32) {
        var now = linger(l_onoff: 1, l_linger: 0)
        // Safe: `now` is local and outlives the call.
        unsafe setsockopt(raw, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
    }

    /// Sends without a signal; -1 and errno on failure.
    ///
    /// With `moreFollows` the kernel may keep back a part of a segment until the next call, or for 200 ms.
    static func send(_ raw: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, moreFollows: Bool = false) -> Int
    {
        unsafe Glibc.send(raw, bytes, count, Int32(MSG_NOSIGNAL) | (moreFollows ? Int32(MSG_MORE) : 0))
    }

    /// Sends two pieces in one call, without a signal; -1 and errno on failure.
    static func send(_ raw: Int32, _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Int {
        if unsafe second.isEmpty { return unsafe send(raw, first.baseAddress, first.count) }
        if unsafe first.isEmpty { return unsafe send(raw, second.baseAddress, second.count) }
        // Safe: the kernel only reads the pieces, which outlive the call.
        var pieces = unsafe (
            iovec(iov_base: UnsafeMutableRawPointer(mutating: first.baseAddress), iov_len: first.count),
            iovec(iov_base: UnsafeMutableRawPointer(mutating: second.baseAddress), iov_len: second.count)
        )
        return unsafe withUnsafeMutablePointer(to: &pieces) { pair in
            unsafe pair.withMemoryRebound(to: iovec.self, capacity: 2) { list in
                var message = unsafe msghdr()
                unsafe message.msg_iov = list
                unsafe message.msg_iovlen = 2
                return unsafe sendmsg(raw, &message, Int32(MSG_NOSIGNAL))
            }
        }
    }
}
