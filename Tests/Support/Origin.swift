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

    /// Begins to listen at a port, by default one of the system's choice.
    package convenience init(port: UInt16 = 0, _ script: @escaping Script) throws {
        self.init(try WireListener(port: port), script)
    }

    /// Begins to listen at a path, which must be free.
    package convenience init(path: String, _ script: @escaping Script) throws {
        self.init(try WireListener(path: path), script)
    }

    private init(_ listener: WireListener, _ script: @escaping Script) {
        descriptor = listener.descriptor
        port = listener.port
        // The thread alone holds the listener: its end closes the socket.
        Thread.detachNewThread { [received, connections] in
            while let connection = try? listener.accept(milliseconds: -1) {
                connections.withLock { $0.append(connection) }
                Thread.detachNewThread {
                    while let request = try? connection.receiveRequest(), request.isWhole {
                        received.withLock { $0.append(request) }
                        script(request, connection)
                    }
                    connections.withLock { $0.removeAll { $0 === connection } }
                }
            }
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

    /// Returns an upstream that closes each connection after one response, which it chooses by the request's head;
    /// for nil it is silent until the client gives up.
    package static func closing(
        port: UInt16 = 0, _ response: @escaping @Sendable (String) -> [UInt8]?
    ) throws -> Origin {
        try Origin(port: port) { request, connection in
            guard let bytes = response(request.head) else { return }
            connection.send(bytes)
            connection.finish()
        }
    }

    deinit { stop() }

    /// The URL that leads to it, without a slash at the end.
    package var url: String { "http://127.0.0.1:\(port)" }

    /// The head of each request so far, in order.
    package var heads: [String] { requests.map(\.head) }

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
