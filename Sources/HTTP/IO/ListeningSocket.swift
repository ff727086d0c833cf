internal import CLinux
internal import Primitives

/// A listening socket, closed with its last reference.
package final class ListeningSocket: Sendable {
    private let descriptor: Descriptor
    /// The address, with the port that the system chose for port 0.
    package let endpoint: Endpoint

    private init(_ descriptor: consuming Descriptor, endpoint: Endpoint) {
        self.descriptor = descriptor
        self.endpoint = endpoint
    }

    /// The descriptor's number, valid while the socket is held.
    package var raw: Int32 { descriptor.raw }

    /// Listens at `endpoint`, once for each of `count` loops.
    ///
    /// An IP address gives each loop its own socket (`SO_REUSEPORT`: the kernel spreads the connections). A
    /// Unix path gives them one shared socket and replaces a stale one. With `isReplacing` this process may
    /// already listen on the port at another address. `isMultipath` has no effect on a kernel without Multipath
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
            // Safe: the text is terminated, and copied before the call ends.
            let raw = unsafe CLinux_listen_unix(path, backlog)
            guard raw >= 0 else { throw .last }
            let socket = ListeningSocket(Descriptor(owning: raw), endpoint: endpoint)
            return [ListeningSocket](repeating: socket, count: count)
        }
    }

    /// Takes a socket that this process was started with; nil unless it is a listening stream socket.
    package static func inherited(_ raw: Int32) -> ListeningSocket? {
        var local = CLinux_endpoint()
        var path = [CChar](repeating: 0, count: 128)
        // Safe: both are local and outlive the call, which terminates the text within the size it is given.
        guard unsafe CLinux_adopt_listener(raw, &local, &path, path.count) == 0 else { return nil }
        let descriptor = Descriptor(owning: raw)
        if let address = IPAddress(local) {
            return ListeningSocket(descriptor, endpoint: .ip(address, port: local.port))
        }
        let text = path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return ListeningSocket(descriptor, endpoint: .unix(path: String(text.span)))
    }

    private static func open(
        _ address: IPAddress, port: UInt16, isShared: Bool, isProbe: Bool = false,
        isMultipath: Bool = false
    ) throws(SystemError) -> ListeningSocket {
        var target = address.endpoint(port: port)
        // Safe: `target` is local and outlives the call.
        let raw = unsafe CLinux_listen(&target, isShared ? 1 : 0, isProbe ? -1 : backlog, isMultipath ? 1 : 0)
        guard raw >= 0 else { throw .last }
        let chosen = UInt16(clamping: CLinux_local_port(raw))
        return ListeningSocket(Descriptor(owning: raw), endpoint: .ip(address, port: chosen))
    }

    private static let backlog: Int32 = 4096
}

/// The options of a listening socket, which accepted connections inherit.
package struct SocketOptions: Equatable, Sendable {
    /// Seconds of silence before the kernel probes the peer; 0 for never.
    package var keepAliveSeconds = 60
    /// The number of connections that may send data before their handshake is complete (RFC 7413); 0 for none.
    package var fastOpenQueue = 0

    package init() {}
}

extension ListeningSocket {
    /// Sets the options for future connections; a Unix socket has none of them.
    package func apply(_ options: SocketOptions) {
        guard case .ip = endpoint else { return }
        CLinux_set_listener(
            raw, Int32(clamping: options.keepAliveSeconds), Int32(clamping: options.fastOpenQueue))
    }

    /// True if its connections may use several paths (RFC 8684).
    package var isMultipath: Bool { CLinux_is_multipath(raw) != 0 }
}
