internal import Dictionaries
internal import Primitives
internal import TestSupport

/// A faulty proxy: it changes requests and responses, or caches responses in spite of their Vary.
final class InBetween: Sendable {
    /// A change to one message.
    typealias Change = @Sendable (inout WireMessage) -> Void

    private let origin: Origin
    /// Returns the URL of a path through it.
    func url(_ path: String) -> String { "http://127.0.0.1:\(origin.port)\(path)" }

    /// Starts a proxy in front of a port of this machine.
    init(
        before port: UInt16, request: @escaping Change = { _ in }, answer change: @escaping Change = { _ in }
    ) throws {
        origin = try Origin { message, connection in
            var message = message
            request(&message)
            guard var answer = Self.answer(to: message, from: port) else { return connection.finish() }
            change(&answer)
            connection.send(Self.bytes(answer, isAnswer: true))
        }
    }

    /// Starts a cache, keyed by the target alone, in front of a port of this machine.
    init(cachingBefore port: UInt16, saysAge: Bool) throws {
        let kept = Guarded<[String: [UInt8]]>([:])
        origin = try Origin { message, connection in
            if let bytes = kept.withLock({ $0[message.target] }) {
                connection.send(bytes)
                return
            }
            guard var answer = Self.answer(to: message, from: port) else { return connection.finish() }
            connection.send(Self.bytes(answer, isAnswer: true))
            if saysAge { answer.set("Age", "3") }
            let bytes = Self.bytes(answer, isAnswer: true)
            kept.withLock { $0[message.target] = bytes }
        }
    }

    private static func answer(to message: WireMessage, from port: UInt16) -> WireMessage? {
        guard let upstream = try? WireSocket(port: port), upstream.send(bytes(message)) else { return nil }
        return try? upstream.receive()
    }

    private static func bytes(_ message: WireMessage, isAnswer: Bool = false) -> [UInt8] {
        var message = message
        message.remove("Content-Length")
        message.remove("Transfer-Encoding")
        let lines = [message.startLine] + message.fields.map { "\($0.name): \($0.value)" }
        return wire(
            lines.joined(separator: "\r\n"), body: isAnswer || !message.body.isEmpty ? message.body : nil)
    }
}

extension WireMessage {
    mutating func remove(_ name: String) { fields.removeAll { $0.name.lowercased() == name.lowercased() } }

    /// Replaces the value of a field.
    mutating func set(_ name: String, _ value: String) {
        remove(name)
        fields.append((name, value))
    }
}
