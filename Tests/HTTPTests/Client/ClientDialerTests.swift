internal import Primitives
internal import TestSupport
internal import Testing

@testable import HTTP

/// The connections of a client that lets servers choose the version of HTTP.
@Suite(.timeLimit(.minutes(40))) struct ClientDialerTests {
    /// A dialer, which its loop holds.
    private final class Holder: Handler {
        let dialer: ClientDialer

        init(_ dialer: ClientDialer) { self.dialer = dialer }
    }

    @Test func `an HTTP/2 connection is used again until another one takes its place, and is closed then`()
        throws
    {
        let server = try TestServer { $0.answer("hello") }
        let target = UpstreamTarget(scheme: .http, authority: "a", endpoint: server.endpoint)
        let head = try #require(try parseRequest("GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
        let loop = EventLoop(label: "test.dialer")
        defer { loop.stop() }
        let added = loop.call { core -> Token in
            var settings = ClientSettings()
            settings.keepAliveTimeout = 600_000
            return core.add(Holder(ClientDialer(settings: settings, protocols: .http2, core: core)))
        }
        let token = try #require(added)
        func fetch(fresh: Bool) -> String? {
            let journal = Journal()
            loop.execute { core in
                guard let dialer = core.handler(token, as: Holder.self)?.dialer else { return }
                dialer.connect(to: target, fresh: fresh) { result in
                    guard case .success(let connection) = result else { return journal.note("failed") }
                    connection.begin(head, handler: TestResponse(journal))
                }
            }
            return journal.wait { $0.contains { $0 == "end" || $0.hasPrefix("failed") } }.last
        }
        for _ in 0..<2 { #expect(fetch(fresh: false) == "end") }
        #expect(server.count.current == 1)
        #expect(fetch(fresh: true) == "end")
        #expect(server.awaitConnections(1))
    }

    @Test(arguments: [(2, "end"), (3, "failed malformed")])
    func `as many interim responses are taken over HTTP/2 as are allowed, and one more is malformed`(
        count: Int, last: String
    ) throws {
        let server = try TestServer { request in
            for _ in 0..<count {
                request.connection.sendInterim(ResponseHead(status: Status(rawValue: 103)))
            }
            request.answer("hello")
        }
        let target = UpstreamTarget(scheme: .http, authority: "a", endpoint: server.endpoint)
        let head = try #require(try parseRequest("GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
        let loop = EventLoop(label: "test.dialer")
        defer { loop.stop() }
        let journal = Journal()
        loop.execute { core in
            var settings = ClientSettings()
            settings.interimMax = 2
            let dialer = ClientDialer(settings: settings, protocols: .http2, core: core)
            _ = core.add(Holder(dialer))
            dialer.connect(to: target, fresh: false) { result in
                guard case .success(let connection) = result else { return journal.note("failed") }
                connection.begin(head, handler: TestResponse(journal))
            }
        }
        let notes = journal.wait { $0.contains { $0 == "end" || $0.hasPrefix("failed") } }
        #expect(notes.last == last)
        #expect(notes.count { $0 == "interim 103" } == 2)
    }

    @Test(arguments: [
        ("HTTP/1.1 400 Bad Request\r\n\r\n", "notSpoken"), ("HTTP/1.", "notSpoken"),
        ("SSH-2.0-OpenSSH\r\n", "violation"),
    ])
    func `a server that answers in HTTP/1 speaks no HTTP/2, and one in another protocol breaks its rules`(
        answer: String, failure: String
    ) throws {
        let upstream = try TestUpstream()
        let target = UpstreamTarget(scheme: .http, authority: "a", endpoint: upstream.endpoint)
        let head = try #require(try parseRequest("GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
        let loop = EventLoop(label: "test.dialer")
        defer { loop.stop() }
        let journal = Journal()
        loop.execute { core in
            let dialer = ClientDialer(settings: ClientSettings(), protocols: .http2, core: core)
            _ = core.add(Holder(dialer))
            dialer.connect(to: target, fresh: false) { result in
                guard case .success(let connection) = result else { return journal.note("failed") }
                connection.begin(head, handler: TestResponse(journal))
            }
        }
        let peer = try upstream.accept()
        peer.send(answer)
        let notes = journal.wait { !$0.isEmpty }
        #expect(notes == ["failed http2 \(failure)"])
        withExtendedLifetime(peer) {}
    }
}
