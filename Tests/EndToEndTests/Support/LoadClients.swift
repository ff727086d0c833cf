internal import Dictionaries
internal import Foundation
internal import Primitives
internal import Storage
internal import TestSupport

/// Clients that ask without pause until they are told to end; each notes a request that fails, and ends.
///
/// A kept connection that says `close` is replaced. Anything else is a failure: a refused connection, one that ends without
/// an answer, also a kept one, since a request that is not idempotent cannot be sent again, and an answer that is cut off or
/// wrong.
final class LoadClients: Sendable {
    private let failures = Guarded<[String]>([])
    private let answers = Guarded(0)
    private let isOver = Guarded(false)
    private let ends: [Gate]
    private let port: UInt16
    private let body: [UInt8]

    /// Starts so many with a kept connection, and so many with a new one for each request.
    init(port: UInt16, expecting body: [UInt8], kept: Int, fresh: Int) {
        self.port = port
        self.body = body
        ends = (0..<kept + fresh).map { _ in Gate() }
        for (place, end) in ends.enumerated() {
            Thread.detachNewThread { [self] in
                run(keeps: place < kept)
                end.open()
            }
        }
    }

    /// How many answers there were so far.
    var answerCount: Int { answers.withLock { $0 } }

    /// Waits for so many answers more.
    func awaitAnswers(_ count: Int) throws {
        let aim = answerCount + count
        try waitUntil("\(aim) answers") {
            if let failure = failures.withLock({ $0.first }) { throw Failed(description: failure) }
            return answerCount >= aim
        }
    }

    /// Ends all; what failed.
    func stop() -> [String] {
        isOver.withLock { $0 = true }
        let haveEnded = ends.allSatisfy { $0.wait(seconds: 60) }
        return failures.withLock { $0 } + (haveEnded ? [] : ["a client does not end"])
    }

    private func run(keeps: Bool) {
        var kept: WireSocket?
        while !isOver.withLock({ $0 }) {
            let isFresh = kept == nil
            do {
                let client = try kept ?? WireSocket(port: port)
                kept = try ask(client) && keeps ? client : nil
            } catch {
                return failures.withLock { $0.append("\(isFresh ? "new" : "kept"): \(error)") }
            }
        }
    }

    /// Whether the connection may be used again.
    private func ask(_ client: WireSocket) throws -> Bool {
        client.send("GET /feed HTTP/1.1\r\nHost: api.test\r\n\r\n")
        let answer = try client.receive()
        guard answer.status == 200, answer.isWhole, answer.body == body else {
            throw Wrong(status: answer.status, bytes: answer.body.count)
        }
        answers.withLock { $0 += 1 }
        return answer["Connection"] != "close"
    }

    private struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    private struct Wrong: Error {
        let status: Int
        let bytes: Int
    }
}
