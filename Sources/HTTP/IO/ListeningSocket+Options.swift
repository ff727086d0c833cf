internal import CLinux

/// What is set of a listening socket, and by it of the connections that it accepts.
package struct SocketOptions: Equatable, Sendable {
    /// For how many seconds a connection may be silent before the kernel asks whether its peer is still there; 0: for ever.
    package var keepAliveSeconds = 60
    /// How many connections may bring data before their handshake is whole (RFC 7413); 0 for none.
    package var fastOpenQueue = 0

    package init() {}
}

extension ListeningSocket {
    /// Sets the options, for the connections that are accepted from now on; a unix socket has none of them.
    package func apply(_ options: SocketOptions) {
        guard case .ip = endpoint else { return }
        CLinux_set_listener(
            raw, Int32(clamping: options.keepAliveSeconds), Int32(clamping: options.fastOpenQueue))
    }

    /// Whether its connections may use several paths (RFC 8684).
    package var isMultipath: Bool { CLinux_is_multipath(raw) != 0 }
}
