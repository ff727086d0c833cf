import Primitives
import TestSupport
import Testing

@testable import HTTP

/// A connection of another protocol than HTTP.
struct RawConnectionTests {
    /// The owner of a connection, which its loop holds.
    private final class Owner: Handler, RawConnectionHandler {
        var connection: RawConnection?
        private let journal: Journal

        init(_ journal: Journal) { self.journal = journal }

        func connected() { journal.note("connected") }
        func received(_ bytes: Span<UInt8>) { journal.note("received \(String(bytes))") }
        func ended(_ error: UpstreamError) { journal.note("ended, truncated \(error == .truncated)") }
    }

    @Test func `bytes pass both ways, and the peer's end is told once and ends this side, too`() throws {
        let upstream = try TestUpstream()
        let endpoint = upstream.endpoint
        let journal = Journal()
        let loop = EventLoop(label: "test.raw")
        defer { loop.stop() }
        let added = loop.call { core -> Token in
            let owner = Owner(journal)
            do throws(SystemError) {
                owner.connection = try RawConnection(
                    to: endpoint, host: "a", tls: nil, timeout: 60_000, core: core, handler: owner)
            } catch {
                journal.note("cannot connect")
            }
            return core.add(owner)
        }
        let token = try #require(added)
        let peer = try upstream.accept()
        #expect(journal.wait(for: "connected"))
        peer.send("hello")
        #expect(journal.wait(for: "received hello"))
        loop.execute { core in core.handler(token, as: Owner.self)?.connection?.send(wire("hi")) }
        #expect(peer.read(2) == "hi")
        peer.closeWriting()
        #expect(peer.readToEnd() == ("", .closed))
        loop.call { _ in }
        #expect(journal.all == ["connected", "received hello", "ended, truncated true"])
    }
}
