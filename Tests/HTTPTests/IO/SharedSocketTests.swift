import Glibc
import Primitives
import TestSupport
import Testing

@testable import HTTP

/// A listening socket of several loops, as one at a path is.
@Suite(.timeLimit(.minutes(40))) struct SharedSocketTests {
    /// Loops with a listener each, at one socket.
    private final class Loops {
        let endpoint: Endpoint
        let loops = (0..<2).map { EventLoop(label: "loop \($0)") }
        /// The connections that each loop had accepted at the end of its turns.
        let accepted = Guarded([[0], [0]])
        private let folder: TemporaryFolder

        init() throws {
            folder = try TemporaryFolder()
            endpoint = .unix(path: folder.path + "/socket")
            let shares = try ListeningSocket.open(endpoint, count: 2).shares(2)
            for (index, loop) in loops.enumerated() {
                loop.call { [accepted] core in
                    let application = Silent()
                    let listener = Listener(
                        sockets: shares[index], application: application, settings: ServerSettings(),
                        count: ConnectionCount())
                    listener.start(on: core)
                    core.turnEnded = { _ in accepted.withLock { $0[index].append(application.accepted) } }
                }
            }
        }

        deinit {
            for loop in loops { loop.stop() }
        }

        /// Has both loops wait, until the gate is opened.
        func hold() -> Gate {
            let gate = Gate()
            for loop in loops {
                let held = Gate()
                loop.execute { _ in
                    held.open()
                    gate.wait()
                }
                held.wait()
            }
            return gate
        }

        var counts: [Int] { accepted.withLock { $0.map { $0.last ?? 0 } } }
    }

    private final class Silent: Application {
        private(set) var accepted = 0

        func begin(
            _ head: consuming RequestHead, framing: BodyFraming, on stream: any ResponseStream
        ) -> any RequestHandler { fatalError("nobody asks") }

        func refuse(_ refusal: Refusal, from peer: Endpoint?, send: (ResponseHead, [UInt8]) -> Int) {}

        func count(_ event: ListenerEvent) { if event == .accepted { accepted += 1 } }
    }

    private final class Client {
        private let descriptor: Descriptor

        init(to endpoint: Endpoint) throws { descriptor = try Socket.connect(to: endpoint) }
    }

    @Test func `a loop takes a few connections per turn, so that the others get theirs`() throws {
        let test = try Loops()
        let gate = test.hold()
        let clients = try (0..<60).map { _ in try Client(to: test.endpoint) }
        gate.open()
        try waitUntil("all are accepted") { test.counts.reduce(0, +) == clients.count }
        let turns = test.accepted.withLock { $0.flatMap { zip($0.dropFirst(), $0).map { $0 - $1 } } }
        #expect(turns.max() ?? .max <= Listener.acceptsMax)
    }

    private final class Holder: Handler {
        let listener: Listener

        init(_ listener: Listener) { self.listener = listener }
    }

    private final class Reference {
        private(set) weak var listener: Listener?

        init(_ listener: Listener?) { self.listener = listener }
    }

    @Test func `a listener that has stopped hears nothing more of a socket that somebody else holds, too`()
        throws
    {
        let socket = try ListeningSocket.open(.ip(try loopback(), port: 0), count: 1)[0]
        let loop = EventLoop(label: "test.listener")
        defer { loop.stop() }
        let turns = Guarded(0)
        let added = loop.call { core -> Token in
            let listener = Listener(
                sockets: [socket], application: Silent(), settings: ServerSettings(), count: ConnectionCount()
            )
            listener.start(on: core)
            core.turnEnded = { _ in turns.withLock { $0 += 1 } }
            return core.add(Holder(listener))
        }
        let token = try #require(added)
        loop.execute { core in core.handler(token, as: Holder.self)?.listener.stop(core) {} }
        loop.call { _ in }
        // It waits at the socket, which this test still holds.
        let client = try WireSocket(to: socket.endpoint)
        let before = turns.withLock { $0 }
        for _ in 0..<50 {
            loop.call { _ in }
            usleep(2_000)
        }
        #expect(turns.withLock { $0 } - before < 200, "the loop turns for these calls alone")
        let isGone = loop.call { core -> Bool in
            let reference = Reference(core.handler(token, as: Holder.self)?.listener)
            core.remove(token)
            return reference.listener == nil
        }
        #expect(isGone == true, "and the loop holds it no more")
        withExtendedLifetime((client, socket)) {}
    }
}
