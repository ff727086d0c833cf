internal import HTTP
internal import TestSupport
internal import Testing

@testable import Proxy

struct InheritanceTests {
    private func read(_ environment: [String: String]) throws -> Inheritance {
        try Inheritance(environment, own: 42, parent: 7)
    }

    @Test func `sockets are taken by the process that LISTEN_PID names, and no other`() throws {
        #expect(try read(["LISTEN_FDS": "2", "LISTEN_PID": "42"]).names == ["", ""])
        for pid in ["43", "0", "-42", "", "42 ", "99999999999999999999"] {
            #expect(try read(["LISTEN_FDS": "2", "LISTEN_PID": pid]).names == [])
        }
        #expect(try read(["LISTEN_FDS": "2"]).names == [])
        #expect(try read(["LISTEN_PID": "42"]).names == [])
        #expect(try read([:]).names == [])
    }

    @Test func `names belong to their sockets in order; one too few or too many is no harm`() throws {
        let variables = ["LISTEN_FDS": "2", "LISTEN_PID": "42"]
        for (text, names) in [
            ("web:admin", ["web", "admin"]), ("web", ["web", ""]), (":b:c", ["", "b"]), ("", ["", ""]),
        ] {
            #expect(try read(variables.merging(["LISTEN_FDNAMES": text]) { $1 }).names == names)
        }
    }

    @Test(arguments: ["-1", "x", "", "4097", "1e3", "99999999999"])
    func `a number of sockets that is none is an error`(count: String) {
        #expect(throws: StartError.self) { try read(["LISTEN_FDS": count, "LISTEN_PID": "42"]) }
    }

    @Test func `many listeners on many cores have their sockets, up to 4,096`() throws {
        #expect(try read(["LISTEN_FDS": "4096", "LISTEN_PID": "42"]).names.count == 4_096)
    }

    @Test func `a successor takes those of its parent, and says at the descriptor when it accepts`() throws {
        let taken = try read(["LISTEN_FDS": "1", "DICTUM_SUCCEEDS": "7:4"])
        #expect(taken.names == [""])
        #expect(taken.readiness == 4)
        #expect(try read(["LISTEN_FDS": "0", "DICTUM_SUCCEEDS": "7:3"]).readiness == 3)
        let other = try read(["LISTEN_FDS": "1", "LISTEN_PID": "42", "DICTUM_SUCCEEDS": "8:4"])
        #expect(other.names == [""] && other.readiness == nil, "nobody waits there for this process")
        for text in ["8:4", "7", "7:", "7:2", "7:4:5", "a:b", ""] {
            let none = try read(["LISTEN_FDS": "1", "DICTUM_SUCCEEDS": text])
            #expect(none.names == [] && none.readiness == nil, "\(text)")
        }
    }

    @Test
    func `a successor gets each socket once: those of the listeners in order, then the admin listener's`()
        throws
    {
        let folder = try TemporaryFolder()
        let proxy = try TestProxy(
            Origin(json(Array("{}".utf8))),
            change: {
                $0.listeners.append(.init(address: .tcp(host: "127.0.0.2", port: 0)))
                // Both loops accept at one socket.
                $0.listeners.append(.init(address: .unix(path: folder.file("a"))))
            })
        let sockets = proxy.server.listeningSockets()
        #expect(Set(sockets.map { ObjectIdentifier($0) }).count == sockets.count)
        var endpoints: [Endpoint] = []
        for socket in sockets where endpoints.last != socket.endpoint { endpoints.append(socket.endpoint) }
        let admin = try #require(proxy.server.adminEndpoint)
        #expect(endpoints == proxy.server.endpoints + [admin])
    }

    @Test func `a loop accepts at all sockets that it inherits for one listener`() throws {
        // This test holds them, too, as a service manager does.
        let sockets = try ListeningSocket.open(.ip(try #require(IPAddress("127.0.0.1")), port: 0), count: 2)
        let port = try TestProxy.port(sockets.first?.endpoint)
        // The kernel has spread them over both before anybody accepts.
        let clients = try (0..<40).map { _ in try WireSocket(port: port) }
        let members = sockets.map { InheritedSockets.Member(name: "", socket: $0) }
        let proxy = try TestProxy(
            Origin(json(Array("{}".utf8))), loops: 1,
            inherited: InheritedSockets(members, mayBeLeftOver: false))
        for client in clients {
            client.send(request("/a", []))
            #expect(try client.receive().status == 200)
        }
        #expect(proxy.server.endpoints.first == sockets.first?.endpoint)
    }

    @Test func `with reuse_port two proxies share an address, and without it the second is refused`() throws {
        let origin = try Origin(json(Array("{}".utf8)))
        let first = try TestProxy(origin, listener: { $0.reusesPort = true })
        let port = try TestProxy.port(first.server.endpoints.first)
        let address = ConfiguredAddress.tcp(host: "127.0.0.1", port: port)
        #expect(throws: StartError.self) { try TestProxy(origin, listener: { $0.address = address }) }
        let second = try TestProxy(
            origin,
            listener: {
                $0.address = address
                $0.reusesPort = true
            })
        #expect(second.server.endpoints == first.server.endpoints)
        #expect(try second.fetch("/a").status == 200)
    }
}
