internal import Glibc
internal import Synchronization

/// A listening socket, closed with its last reference.
package final class ListeningSocket: Sendable {
    private let descriptor: Descriptor
    /// The address, with the port that the system chose for port 0.
    package let endpoint: Endpoint
    private let hasSeveralLoops = Atomic<Bool>(false)

    private init(_ descriptor: consuming Descriptor, endpoint: Endpoint) {
        self.descriptor = descriptor
        self.endpoint = endpoint
    }

    /// The descriptor's number, valid while the socket is held.
    package var raw: Int32 { descriptor.raw }

    /// True if several loops accept its connections.
    var isShared: Bool { hasSeveralLoops.load(ordering: .relaxed) }

    /// Notes that several loops will accept its connections.
    func share() { hasSeveralLoops.store(true, ordering: .relaxed) }

    /// Listens at `endpoint`, once for each of `count` loops.
    ///
    /// An IP address gives each loop its own socket (`SO_REUSEPORT`: the kernel spreads the connections). A
    /// Unix path gives them one shared socket and replaces a stale one. With `isReplacing` other
    /// sockets may already share the port, such as those that this process is about to close. `isMultipath` has no effect on a kernel without Multipath
    /// TCP.
    package static func open(
        _ endpoint: Endpoint, count: Int, isReplacing: Bool = false, isMultipath: Bool = false
    ) throws(SystemError) -> [ListeningSocket] {
        switch endpoint {
        case .ip(let address, let port):
            // With SO_REUSEPORT alone a second process would silently take half of the connections.
            if port != 0, !isReplacing { _ = try open(address, port: port, isShared: false, isProbe: true) }
            var sockets: [ListeningSocket] = []
            var port = port
            for _ in 0..<count {
                let socket = try open(address, port: port, isShared: true, isMultipath: isMultipath)
                if case .ip(_, let chosen) = socket.endpoint { port = chosen }
                sockets.append(socket)
            }
            return sockets
        case .unix(let path):
            let socket = ListeningSocket(try listen(atPath: path), endpoint: endpoint)
            return [ListeningSocket](repeating: socket, count: count)
        }
    }

    /// Takes a socket that this process was started with; nil unless it is a listening stream socket.
    package static func inherited(_ raw: Int32) -> ListeningSocket? {
        var address = SocketAddress()
        let type = Socket.option(raw, SOL_SOCKET, SO_TYPE)
        guard type == Int32(SOCK_STREAM.rawValue), Socket.option(raw, SOL_SOCKET, SO_ACCEPTCONN) == 1,
            unsafe address.fill(by: { unsafe getsockname(raw, $0, $1) }) == 0,
            let endpoint = address.endpoint
        else { return nil }
        if case .ip = endpoint { Socket.setOption(raw, Int32(IPPROTO_TCP), TCP_NODELAY, 1) }
        let flags = fcntl(raw, F_GETFL)
        guard fcntl(raw, F_SETFD, FD_CLOEXEC) == 0, flags >= 0, fcntl(raw, F_SETFL, flags | O_NONBLOCK) == 0
        else { return nil }
        return ListeningSocket(Descriptor(owning: raw), endpoint: endpoint)
    }

    private static func open(
        _ address: IPAddress, port: UInt16, isShared: Bool, isProbe: Bool = false,
        isMultipath: Bool = false
    ) throws(SystemError) -> ListeningSocket {
        let target = try SocketAddress(.ip(address, port: port))
        let descriptor = try open(target.family, isMultipath: isMultipath)
        let raw = descriptor.raw
        Socket.setOption(raw, SOL_SOCKET, SO_REUSEADDR, 1)
        if isShared { Socket.setOption(raw, SOL_SOCKET, SO_REUSEPORT, 1) }
        guard unsafe target.pass(to: { unsafe bind(raw, $0, $1) }) == 0,
            isProbe || Glibc.listen(raw, backlog) == 0
        else { throw .last }
        var chosen = SocketAddress()
        guard unsafe chosen.fill(by: { unsafe getsockname(raw, $0, $1) }) == 0,
            case .ip(_, let port)? = chosen.endpoint
        else { throw .last }
        return ListeningSocket(descriptor, endpoint: .ip(address, port: port))
    }

    /// IPPROTO_MPTCP, which older headers lack.
    private static let multipathTCP: Int32 = 262

    private static func open(_ family: Int32, isMultipath: Bool) throws(SystemError) -> Descriptor {
        guard isMultipath else { return try Socket.open(family) }
        do throws(SystemError) {
            return try Socket.open(family, protocolNumber: multipathTCP)
        } catch {
            // A kernel without Multipath TCP, or where it is switched off, has TCP.
            return try Socket.open(family)
        }
    }

    private static func listen(atPath path: String) throws(SystemError) -> Descriptor {
        let address = try SocketAddress(.unix(path: path))
        let descriptor = try Socket.open(AF_UNIX)
        let raw = descriptor.raw
        var status = stat()
        // Safe: the text is terminated, and `status` outlives the call.
        if unsafe stat(path, &status) == 0 {
            // bind would say that the address is in use, as if there were a process to stop.
            guard status.st_mode & S_IFMT == S_IFSOCK else { throw SystemError(code: ENOTSOCK) }
            // A socket that a dead process left behind refuses connections; one that accepts is in use.
            guard unsafe address.pass(to: { unsafe connect(raw, $0, $1) }) != 0 else {
                throw SystemError(code: EADDRINUSE)
            }
            // Safe: the text is terminated.
            if errno == ECONNREFUSED { unsafe _ = unlink(path) }
        }
        guard unsafe address.pass(to: { unsafe bind(raw, $0, $1) }) == 0, Glibc.listen(raw, backlog) == 0
        else { throw .last }
        return descriptor
    }

    private static let backlog: Int32 = 4096
}

extension ListeningSocket {
    /// Has the kernel probe silent peers of future connections, or none after 0; a Unix socket has none of these options.
    func probePeers(afterSeconds seconds: Int) {
        guard case .ip = endpoint else { return }
        let seconds = Int32(clamping: seconds)
        Socket.setOption(raw, SOL_SOCKET, SO_KEEPALIVE, seconds > 0 ? 1 : 0)
        let tcp = Int32(IPPROTO_TCP)
        if seconds > 0 {
            Socket.setOption(raw, tcp, TCP_KEEPIDLE, seconds)
            Socket.setOption(raw, tcp, TCP_KEEPINTVL, min(max(seconds / 4, 1), 75))
            Socket.setOption(raw, tcp, TCP_KEEPCNT, 4)
        }
    }

    /// True if its connections may use several paths (RFC 8684).
    package var isMultipath: Bool {
        Socket.option(raw, SOL_SOCKET, SO_PROTOCOL) == Self.multipathTCP
    }
}
