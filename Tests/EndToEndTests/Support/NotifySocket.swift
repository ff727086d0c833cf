internal import Foundation
internal import Glibc
internal import Testing

/// Where a service tells its manager how it is, sd_notify(3); the manager is the test.
final class NotifySocket: Sendable {
    /// The value of NOTIFY_SOCKET.
    let name: String
    private let descriptor: Int32

    /// In a folder, or with an `@` in the abstract namespace.
    init(_ name: String) throws {
        self.name = name
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(name.utf8)
        if name.hasPrefix("@") { bytes[0] = 0 }
        try #require(bytes.count < MemoryLayout.size(ofValue: address.sun_path))
        // The name is shorter than the field, and the address outlives the calls.
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        var limit = timeval(tv_sec: 300, tv_usec: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let length = socklen_t(2 + bytes.count)
        let descriptor = descriptor
        let isBound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, length) == 0
            }
        }
        try #require(isBound)
    }

    deinit { close(descriptor) }

    /// The next message.
    func next() throws -> String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        // The kernel writes at most as many bytes as the buffer has.
        let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
        try #require(count > 0, "no message")
        return String(decoding: buffer.prefix(count), as: UTF8.self)
    }
}
