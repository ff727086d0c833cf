internal import Glibc
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

    /// A dialer to one server, on a loop of its own.
    private final class Dialing {
        private let loop = EventLoop(label: "test.dialer")
        private let token = Guarded(Token.none)
        private let target: UpstreamTarget

        init(to endpoint: Endpoint, _ change: (inout ClientSettings) -> Void = { _ in }) {
            var settings = ClientSettings()
            change(&settings)
            target = UpstreamTarget(scheme: .http, authority: "a", endpoint: endpoint)
            loop.call { [settings, token] core in
                let dialer = ClientDialer(settings: settings, protocols: .http2, core: core)
                token.withLock { $0 = core.add(Holder(dialer)) }
            }
        }

        deinit { loop.stop() }

        func onLoop(_ body: @escaping @Sendable (ClientDialer, UpstreamTarget) -> Void) {
            let token = token.withLock { $0 }
            loop.execute { [target] core in
                if let dialer = core.handler(token, as: Holder.self)?.dialer { body(dialer, target) }
            }
        }

        /// Begins a request; returns what its handler is told.
        func begin(_ method: String = "GET") throws -> Journal {
            let head = try #require(try parseRequest("\(method) / HTTP/1.1\r\nHost: a\r\n\r\n"))
            let journal = Journal()
            onLoop { dialer, target in
                dialer.connect(to: target, fresh: false) { result in
                    guard case .success(let connection) = result else { return journal.note("failed") }
                    connection.begin(head, handler: TestResponse(journal))
                }
            }
            return journal
        }
    }

    private func outcome(_ journal: Journal) -> [String] {
        journal.wait { $0.contains { $0 == "end" || $0.hasPrefix("failed") } }
    }

    @Test(arguments: [(false, "failed response-timeout"), (true, "failed idle-timeout")])
    func `a head or a body that does not come over HTTP/2 in time is a time-out`(
        hasHead: Bool, last: String
    ) throws {
        let server = try TestServer { request in
            if hasHead { request.connection.start(testHead(), body: .chunked) }
        }
        let dialing = Dialing(to: server.endpoint) { settings in
            settings.responseTimeout = hasHead ? 600_000 : 300
            settings.idleTimeout = hasHead ? 300 : 600_000
        }
        #expect(try outcome(dialing.begin()).last == last)
    }

    @Test func `a body of known length that drips over HTTP/2 is a time-out`() throws {
        let server = try TestServer { $0.connection.start(testHead(), body: .length(100_000)) }
        let dialing = Dialing(to: server.endpoint) { settings in
            settings.idleTimeout = 300
            settings.bodyRate = 1000
        }
        let journal = try dialing.begin()
        #expect(journal.wait(for: "head 200 length(100000)"))
        var sent = 0
        while sent < 500, !journal.all.contains(where: { $0.hasPrefix("failed") }) {
            server.withRequest { $0.connection.write("x".utf8.span) }
            usleep(20_000)
            sent += 1
        }
        #expect(sent < 500)
        #expect(outcome(journal).last == "failed idle-timeout")
    }

    @Test func `a connection over HTTP/2 that idles is closed when its time is over`() throws {
        let server = try TestServer { $0.answer("hello") }
        let dialing = Dialing(to: server.endpoint) { $0.keepAliveTimeout = 200 }
        #expect(try outcome(dialing.begin()).last == "end")
        #expect(server.awaitConnections(0))
        withExtendedLifetime(dialing) {}
    }

    @Test func `what is idle is closed when that is asked for`() throws {
        let server = try TestServer { $0.answer("hello") }
        let dialing = Dialing(to: server.endpoint) { $0.keepAliveTimeout = 600_000 }
        #expect(try outcome(dialing.begin()).last == "end")
        #expect(server.count.current == 1)
        dialing.onLoop { dialer, _ in dialer.closeIdle() }
        #expect(server.awaitConnections(0))
        withExtendedLifetime(dialing) {}
    }

    @Test func `the response to a HEAD over HTTP/2 has no body, whatever its length says`() throws {
        let server = try TestServer { request in
            var head = testHead()
            head.headers.append(.contentLength, "5")
            request.connection.start(head, body: .none)
            request.connection.finish()
        }
        let dialing = Dialing(to: server.endpoint)
        let lines = outcome(try dialing.begin("HEAD"))
        #expect(lines == ["head 200 none", "end"])
    }

    @Test func `a connection that is given up while it is made is closed, and nobody is told`() throws {
        let upstream = try TestUpstream()
        let dialing = Dialing(to: upstream.endpoint)
        let journal = Journal()
        let gate = Gate()
        dialing.onLoop { dialer, target in
            dialer.connect(to: target, fresh: false) { _ in journal.note("told") }
            // The other side has it before the loop looks at it again.
            gate.wait()
            dialer.cancel()
        }
        let peer = try upstream.accept()
        gate.open()
        #expect(peer.readToEnd() == ("", .closed))
        #expect(journal.all == [])
        withExtendedLifetime(dialing) {}
    }
}
