internal import Foundation
internal import Glibc

/// systemd or another service manager with the protocol of sd_notify(3); without one, nothing is sent.
enum ServiceManager {
    enum State {
        /// Connections are accepted, under the configuration that was read last.
        case ready
        case reloading
        case stopping
        /// Another process of the service takes over.
        case succeeded(by: pid_t)

        fileprivate var text: String {
            switch self {
            case .ready: "READY=1"
            case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(DispatchTime.now().uptimeNanoseconds / 1_000)"
            case .stopping: "STOPPING=1"
            case .succeeded(let pid): "MAINPID=\(pid)"
            }
        }
    }

    /// The longest time, in seconds, that a report waits for a manager that does not read.
    private static let secondsMax = 5

    /// Reports a state; ignores errors, such as a manager that has gone.
    static func notify(_ state: State) {
        guard let path = ProcessInfo.processInfo.environment["NOTIFY_SOCKET"], let address = address(of: path)
        else { return }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var limit = timeval(tv_sec: secondsMax, tv_usec: 0)
        // Safe: the limit is local and outlives the call.
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let text = Array(state.text.utf8)
        var (name, length) = address
        // Safe: the text and the address are local and outlive the call; the length covers the filled part of the
        // address.
        unsafe withUnsafePointer(to: &name) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = unsafe sendto(descriptor, text, text.count, Int32(MSG_NOSIGNAL), address, length)
            }
        }
    }

    /// Returns the address for a path, or for a name in the abstract namespace, written with a leading `@`.
    private static func address(of path: String) -> (sockaddr_un, socklen_t)? {
        var bytes = Array(path.utf8)
        guard let first = bytes.first, first == UInt8(ascii: "/") || first == UInt8(ascii: "@") else {
            return nil
        }
        if first == UInt8(ascii: "@") { bytes[0] = 0 }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        // Safe: the text is shorter than the field.
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let head = MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: address.sun_path)
        return (address, socklen_t(head + bytes.count))
    }
}
