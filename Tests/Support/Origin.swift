internal import Dictionaries
internal import Foundation
internal import Glibc
internal import Primitives

/// An upstream whose script is in the test; one thread a connection.
package final class Origin: Sendable {
    /// Answers one request on its connection; the connection goes on to the next one until its script ends it.
    package typealias Script = @Sendable (WireMessage, WireSocket) -> Void

    /// Where it listens on 127.0.0.1; 0 where it listens at a path.
    package let port: UInt16
    private let descriptor: Int32
    private let received = Guarded<[WireMessage]>([])
    private let connections = Guarded<[WireSocket]>([])
    private let isStopped = Guarded(false)

    /// Begins to listen at a port of the system's choice.
    package convenience init(_ script: @escaping Script) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        // Safe: the pointers are used within the calls; a sockaddr_in is what AF_INET says it is.
        let code = unsafe withLoopbackAddress(port: 0) { unsafe bind(descriptor, $0, $1) }
        guard code == 0, listen(descriptor, 128) == 0 else { throw WireError.cannotListen(errno) }
        unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = unsafe getsockname(descriptor, $0, &size)
            }
        }
        self.init(listening: descriptor, port: UInt16(bigEndian: address.sin_port), script)
    }

    /// Begins to listen at a path, which must be free.
    package convenience init(path: String, _ script: @escaping Script) throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // Safe: the copy stays within the field, and leaves a NUL at its end.
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { field in
            unsafe field.copyBytes(from: path.utf8.prefix(field.count - 1))
        }
        // Safe: the pointer is used within the call; a sockaddr_un is what AF_UNIX says it is.
        let code = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard code == 0, listen(descriptor, 128) == 0 else { throw WireError.cannotListen(errno) }
        self.init(listening: descriptor, port: 0, script)
    }

    private init(listening descriptor: Int32, port: UInt16, _ script: @escaping Script) {
        self.descriptor = descriptor
        self.port = port
        Thread.detachNewThread { [received, connections] in
            while case let accepted = closedOnExec(accept(descriptor, nil, nil)), accepted >= 0 {
                let connection = WireSocket(owning: accepted)
                connections.withLock { $0.append(connection) }
                Thread.detachNewThread {
                    while let request = try? connection.receiveRequest(), request.isWhole {
                        received.withLock { $0.append(request) }
                        script(request, connection)
                    }
                    connections.withLock { $0.removeAll { $0 === connection } }
                }
            }
            close(descriptor)
        }
    }

    /// An upstream that gives the same wire bytes every time.
    package convenience init(_ answer: [UInt8]) throws {
        try self.init { _, connection in connection.send(answer) }
    }

    /// An upstream that gives one answer after the other, the last for ever.
    package convenience init(_ answers: [[UInt8]]) throws {
        let next = Guarded(0)
        try self.init { _, connection in
            let turn = next.withLock { next in
                defer { next += 1 }
                return min(next, answers.count - 1)
            }
            connection.send(answers[turn])
        }
    }

    deinit { stop() }

    /// What it was asked so far.
    package var requests: [WireMessage] { received.withLock { $0 } }

    /// Ends all connections and accepts no more.
    package func stop() {
        let isFirst = isStopped.withLock { isStopped in
            defer { isStopped = true }
            return !isStopped
        }
        guard isFirst else { return }
        shutdown(descriptor, Int32(SHUT_RDWR))
        for connection in connections.withLock({ $0 }) { connection.finish() }
    }
}
