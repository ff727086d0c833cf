internal import Glibc
internal import Testing

/// A listening socket on a free port that the test holds, as a service manager does, while processes come and go.
final class HeldSocket: Sendable {
    let descriptor: Int32
    let port: UInt16

    init() throws {
        // Not close-on-exec: it is for children.
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        // The address is local, has that size, and outlives the calls.
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(descriptor, address, size) == 0 && listen(descriptor, 4096) == 0
                    && getsockname(descriptor, address, &size) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        try #require(isBound)
    }

    deinit { close(descriptor) }

    /// The command that becomes the program behind it, with these descriptors from 3 on as sd_listen_fds(3) says.
    static func launcher(
        _ descriptors: [Int32], pid: String = "$$", count: Int? = nil, names: String = ""
    ) -> [String] {
        // By way of numbers that none of them has, so that none is overwritten before it is moved.
        let away = descriptors.enumerated().map { "exec \(200 + $0)<&\($1);" }
        let back = descriptors.indices.map { "exec \(3 + $0)<&\(200 + $0) \(200 + $0)<&-;" }
        let script = """
            \((away + back).joined(separator: " ")) export LISTEN_PID=\(pid) LISTEN_FDS=\(count ?? descriptors.count) \
            LISTEN_FDNAMES=\(names); exec "$@"
            """
        return ["/bin/bash", "-c", script, "launcher"]
    }
}
