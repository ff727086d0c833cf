internal import Dictionaries
internal import Foundation
internal import Glibc
internal import Primitives
internal import TestSupport

/// An origin that answers with the bytes that a test gives, one request a connection, and remembers the requests.
final class ScriptedOrigin: Sendable {
    struct CannotListen: Error {}

    /// The head of each request so far, in order.
    var requests: [String] { heads.withLock { $0 } }
    /// The URL that leads to it, without a slash at the end.
    var url: String { "http://127.0.0.1:\(port)" }
    let port: UInt16

    private let listener: Int32
    private let heads = Guarded<[String]>([])
    private let answer: @Sendable (String) -> [UInt8]?

    /// Answers each request by its head; nil leaves it without an answer until the client gives up.
    init(port wanted: UInt16 = 0, _ answer: @escaping @Sendable (String) -> [UInt8]?) throws {
        self.answer = answer
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var yes: Int32 = 1
        // The option's value is local, has that size, and outlives the call.
        unsafe setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = wanted.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = listener
        // The address is local, has that size, and outlives the calls.
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(descriptor, address, size) == 0 && listen(descriptor, 64) == 0
                    && getsockname(descriptor, address, &size) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        guard isBound else { throw CannotListen() }
        Thread.detachNewThread { [self] in acceptAll() }
    }

    /// Accepts no more, which ends its thread.
    func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

    private func acceptAll() {
        while true {
            let connection = closedOnExec(accept(listener, nil, nil))
            guard connection >= 0 else { break }
            serve(connection)
            shutdown(connection, Int32(SHUT_WR))
            close(connection)
        }
        close(listener)
    }

    private func serve(_ connection: Int32) {
        // No read waits for ever, whatever the client does.
        var limit = timeval(tv_sec: 300, tv_usec: 0)
        // The limit is local, has that size, and outlives the call.
        unsafe setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        guard let head = readHead(connection) else { return }
        heads.withLock { $0.append(head) }
        guard let bytes = answer(head) else {
            _ = readSome(connection)
            return
        }
        var offset = 0
        while offset < bytes.count {
            // The kernel reads within the array, from `offset` to its end.
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe send(
                    connection, buffer.baseAddress?.advanced(by: offset), buffer.count - offset,
                    Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            offset += count
        }
    }

    private func readHead(_ connection: Int32) -> String? {
        var bytes: [UInt8] = []
        while true {
            guard let more = readSome(connection), !more.isEmpty else { return nil }
            bytes += more
            let text = String(decoding: bytes, as: UTF8.self)
            if text.hasSuffix("\r\n\r\n") { return text }
        }
    }

    private func readSome(_ connection: Int32) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        // The kernel writes at most as many bytes as the buffer has.
        let count = unsafe recv(connection, &buffer, buffer.count, 0)
        return count < 0 ? nil : Array(buffer.prefix(count))
    }
}
