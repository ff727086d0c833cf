internal import CLinux

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
