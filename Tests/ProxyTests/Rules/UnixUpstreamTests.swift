internal import Foundation
internal import TestSupport
internal import Testing

@testable import Proxy

private let well = wire("HTTP/1.1 200 OK", body: [UInt8]("by path".utf8))

@Suite(.timeLimit(.minutes(40))) struct UnixUpstreamTests {
    /// A path for a socket, short enough for every system's folder of temporary files, with a capital letter.
    private static func path() -> String {
        let name = "S\(UInt64.random(in: 0 ... .max)).sock"
        return FileManager.default.temporaryDirectory.appending(path: name).path
    }

    @Test func `a socket that nobody listens at is answered 502, or another upstream is asked`() throws {
        let path = Self.path()
        let alive = try MoodyOrigin()
        let alone = try TestProxy(try Origin(well), urls: ["unix:\(path)"])
        #expect(try alone.fetch("/").status == 502)
        let proxy = try TestProxy(alive.origin, urls: ["unix:\(path)", alive.url])
        for method in ["GET", "POST"] {
            let answer = try proxy.fetch("/", method: method, body: method == "POST" ? [1, 2] : nil)
            #expect(answer.text == "well")
        }
        #expect(alive.origin.requests.last?.body == [1, 2])
    }

    @Test func `a POST whose first two upstreams cannot be reached comes to the third whole`() throws {
        let alive = try MoodyOrigin()
        let urls = [try deadURL(), "unix:\(Self.path())", alive.url]
        let proxy = try TestProxy(alive.origin, urls: urls)
        let body = [UInt8](repeating: 9, count: 100_000)
        #expect(try proxy.fetch("/", method: "POST", body: body).text == "well")
        let isWhole = alive.origin.requests.first?.body == body
        #expect(isWhole)
    }

    @Test func `an upstream at a path is asked like one at a port, and connections are kept`() throws {
        let path = Self.path()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let origin = try Origin(path: path) { _, connection in connection.send(well) }
        let proxy = try TestProxy(origin, urls: ["unix:\(path)"])
        let client = try proxy.connect()
        for _ in 0..<3 {
            client.send(request("/a?b", [], host: "public.test"))
            #expect(try client.receive().text == "by path")
        }
        #expect(origin.requests.map(\.target) == ["/a?b", "/a?b", "/a?b"])
        #expect(origin.requests.allSatisfy { $0["Host"] == "public.test" })
        #expect(try proxy.metric(#"dictum_connections_total{side="upstream"}"#) == 1)
        #expect(
            try proxy.metric(
                #"dictum_upstream_healthy{upstream="unix:\#(path)",address="unix:\#(path)"}"#) == 1)
        let old = try proxy.connect()
        old.send("GET /old HTTP/1.0\r\n\r\n")
        #expect(try old.receive().text == "by path")
        #expect(origin.requests.last?["Host"] == "localhost")
    }

    @Test func `requests wait for a socket that has no room for connections, and it is not held against it`()
        throws
    {
        let path = Self.path()
        defer { try? FileManager.default.removeItem(atPath: path) }
        // Room for one connection that is not accepted yet.
        let listener = try WireListener(path: path, backlog: 0)
        let proxy = try TestProxy(try Origin(well), urls: ["unix:\(path)"])
        let clients = try (0..<4).map { number in
            let client = try proxy.connect()
            let body = [UInt8](repeating: 9, count: number * 1000)
            client.send(wire("POST /a HTTP/1.1", "Host: api.test", body: body))
            return client
        }
        for client in clients { #expect(client.isQuiet(milliseconds: 50)) }
        for _ in clients {
            let peer = try listener.accept()
            var request = try peer.receiveHead()
            peer.receiveBody(&request, endsWithConnection: false)
            #expect(request.isWhole)
            peer.send(well)
        }
        for client in clients { #expect(try client.receive().text == "by path") }
        #expect(
            try proxy.metric(
                #"dictum_upstream_healthy{upstream="unix:\#(path)",address="unix:\#(path)"}"#) == 1)
    }

    @Test func `both kinds share the requests`() throws {
        let path = Self.path()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let origin = try Origin(path: path) { _, connection in connection.send(well) }
        let other = try MoodyOrigin()
        let proxy = try TestProxy(origin, urls: [other.url, "unix:\(path)"])
        let client = try proxy.connect()
        for _ in 0..<6 {
            client.send(request("/", []))
            #expect(try client.receive().status == 200)
        }
        #expect(origin.requests.count == 3)
        #expect(other.count == 3)
    }
}
