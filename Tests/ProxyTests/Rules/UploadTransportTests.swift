internal import Dictionaries
internal import Foundation
internal import HTTP
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let held = Feed.bytes(version: 0, items: 40)
private let changed = Feed.bytes(version: 1, items: 40)
private let long = Feed.bytes(version: 2, items: 2_000)
/// As long as is not held for its length, but within a window when it is coded.
private let repeated = Array(long.prefix(150_000)) + Array(long.prefix(150_000))

/// Bodies over dictionaries on their way: HTTP/2, interim responses, back-pressure, retries and waits.
@Suite(.timeLimit(.minutes(40))) struct UploadTransportTests {
    private static let route = "routes: [{match: /doc, requests: dictionary}]"

    private static func dcz(_ body: [UInt8]) throws -> [UInt8] {
        try Codec.encode(body.span, .dcz, options: EncoderOptions(dictionary: .reference(Body(held))))
    }

    private static func origin(_ gate: Gate? = nil) throws -> Origin {
        try Origin { request, connection in
            if request.target == "/slow" { gate?.wait() }
            connection.send(
                json(request.method == "PUT" ? request.body : held, "Cache-Control: public, max-age=60"))
        }
    }

    private static func head(_ fields: String...) -> [UInt8] {
        wire(
            (["PUT /doc HTTP/1.1", "Host: api.test", "Content-Encoding: dcz"] + fields).joined(
                separator: "\r\n"))
    }

    @Test func `a client that waits for 100 gets it before the upstream is asked, and once`() throws {
        let proxy = try TestProxy(Self.origin(), Self.route)
        _ = try proxy.fetch("/doc")
        let client = try proxy.connect()
        let coded = try Self.dcz(changed)
        client.send(Self.head("Expect: 100-continue", "Content-Length: \(coded.count)"))
        #expect(client.readHead() == "HTTP/1.1 100 Continue\r\n\r\n")
        #expect(proxy.origin.requests.count == 1)
        client.send(coded)
        #expect(try client.receive().carries(changed))
        #expect(try #require(proxy.origin.requests.last)["Expect"] == nil)
    }

    @Test func `a client that waits for 100 gets a 415 at once where dictionaries are off`() throws {
        let proxy = try TestProxy(Self.origin(), Self.route)
        #expect(try proxy.turn("off") == 200)
        let client = try proxy.connect()
        client.send(Self.head("Expect: 100-continue", "Content-Length: 100"))
        #expect(try client.receive().status == 415)
    }

    @Test(arguments: [changed, repeated])
    func `over HTTP/2 it is the same`(body: [UInt8]) throws {
        let proxy = try TestProxy(Self.origin(), Self.route)
        _ = try proxy.fetch("/doc")
        let peer = try proxy.connectHTTP2()
        let fields = [("content-encoding", "dcz"), ("expect", "100-continue")]
        peer.request(1, "/doc", method: "PUT", fields, endsStream: false)
        for byte in try Self.dcz(body) { peer.data(1, [byte]) }
        peer.data(1, [], endsStream: true)
        for stream: Int32 in [0, 1] {
            peer.send(HTTP2Peer.Kind.windowUpdate, stream: stream, payload: HTTP2Peer.number(1 << 24))
        }
        let answer = try #require(peer.response(1))
        #expect(answer.interim.map(\.first) == [":status: 100"])
        #expect(answer.status == "200" && answer.body == body && answer["accept-encoding"] == "dcz")
        // An unknown dictionary resets no connection.
        peer.request(3, "/doc", method: "PUT", fields, endsStream: false)
        peer.data(3, [0x5e, 0x2a, 0x4d, 0x18, 0x20, 0, 0, 0] + [UInt8](repeating: 7, count: 60))
        #expect(try #require(peer.response(3)).status == "415")
        peer.request(5, "/doc")
        #expect(try #require(peer.response(5)).status == "200")
    }

    /// A proxy before an upstream whose connections the test serves, which has given `held` by `/doc` and closed that connection:
    /// each loop has connections of its own.
    private func served(_ settings: String = route) throws -> (TestProxy, WireListener) {
        let listener = try WireListener()
        let proxy = try TestProxy(
            Self.origin(), settings, urls: ["http://127.0.0.1:\(listener.port)"])
        let client = try proxy.connect()
        client.send(request("/doc", []))
        let upstream = try listener.accept()
        _ = upstream.readHead()
        upstream.send(json(held, "Cache-Control: public, max-age=60\r\nConnection: close"))
        #expect(try client.receive().carries(held))
        return (proxy, listener)
    }

    @Test func `an upstream that does not read makes the client wait, and then gets it all`() throws {
        let (proxy, listener) = try served("limits: {request_body: 64MiB}\n" + Self.route)
        // More than the buffers of four sockets.
        let body = Noise.bytes(48 << 20, seed: 3)
        let coded = try Self.dcz(body)
        let client = try proxy.connect()
        client.send(Self.head("Content-Length: \(coded.count)"))
        let taken = client.send(coded, quietMilliseconds: 2_000)
        #expect(taken < coded.count)
        let memory = proxy.server.context.shared.coding.memory
        // The largest window of Zstandard, and some pieces.
        #expect(1..<(12 << 20) ~= memory.takenBytes)
        let sent = Gate()
        Thread.detachNewThread {
            client.send(Array(coded.dropFirst(taken)))
            sent.open()
        }
        let upstream = try listener.accept()
        var message = WireMessage(head: upstream.readHead())
        upstream.receiveBody(&message)
        #expect(message.carries(body))
        sent.wait()
        upstream.send(json(Array("taken".utf8)))
        #expect(try client.receive().text == "taken")
        try waitUntil("all memory is given back") { memory.takenBytes == 0 }
    }

    @Test func `a response that overtakes its request ends both, and gives the memory back`() throws {
        let (proxy, listener) = try served()
        let client = try proxy.connect()
        let coded = try Self.dcz(long + Noise.bytes(600_000, seed: 4))
        client.send(Self.head("Content-Length: \(coded.count)") + coded.dropLast(100))
        let upstream = try listener.accept()
        _ = upstream.readHead()
        upstream.send(wire("HTTP/1.1 200 OK", "Content-Type: image/png", "Connection: close", body: [1]))
        #expect(try client.receive().status == 200)
        client.send(Array(coded.suffix(100)))
        _ = client.receiveAll()
        try waitUntil("all memory is given back") {
            proxy.server.context.shared.coding.memory.takenBytes == 0
        }
    }

    @Test func `an upstream that cannot be reached hands the decoded body on`() throws {
        let origin = try Self.origin()
        let gone = try WireListener(port: 0).port
        let proxy = try TestProxy(
            origin, Self.route, urls: ["http://127.0.0.1:\(gone)", origin.url])
        for body in [changed, long, changed, long] {
            _ = try proxy.fetch("/doc")
            let coded = try Self.dcz(body)
            let client = try proxy.connect()
            client.send(Self.head("Content-Length: \(coded.count)") + coded)
            #expect(try client.receive().carries(body))
        }
    }

    @Test func `a request that waits for a place sends its decoded body afterwards`() throws {
        let gate = Gate()
        let proxy = try TestProxy(
            Self.origin(gate), upstream: "max_requests: 1\n  queue_timeout: 5m", Self.route)
        _ = try proxy.fetch("/doc")
        let slow = try proxy.connect()
        slow.send(request("/slow", []))
        try waitUntil("the upstream has it") { proxy.origin.requests.count == 2 }
        let coded = try Self.dcz(long)
        let client = try proxy.connect()
        client.send(Self.head("Content-Length: \(coded.count)") + coded)
        try waitUntil("it waits") { proxy.server.context.shared.places.counts.waiting == 1 }
        gate.open()
        #expect(try slow.receive().status == 200)
        #expect(try client.receive().carries(long))
    }

    @Test func `a dictionary that a hanging disk does not give in time counts as unknown`() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/store.sqlite"
        let origin = {
            try Origin { request, connection in
                let body = request.method == "PUT" ? request.body : request.target == "/doc" ? held : long
                connection.send(json(body, "Cache-Control: public, max-age=60"))
            }
        }
        let route = "routes: [{match: /doc, requests: dictionary}, {match: /other}]"
        let former = try TestProxy(origin(), route, store: path)
        for target in ["/doc", "/other"] { _ = try former.fetch(target) }
        former.stop()
        let proxy = try TestProxy(origin(), route, store: path)
        let store = proxy.server.context.store
        let chain = ChainKey(authority: "api.test", match: "/other")
        let other = try #require(store.reader().newest(VersionKey(chain: chain, url: "/other", variant: "")))
        // Bodies are read one after the other, and this reader keeps the queue.
        let gate = Gate()
        store.load(other) { _ in gate.wait() }
        let coded = try Self.dcz(changed)
        let put = Self.head("Content-Length: \(coded.count)") + coded
        let client = try proxy.connect()
        client.send(put)
        #expect(try client.receive().status == 415)
        gate.open()
        let later = try proxy.connect()
        later.send(put)
        #expect(try later.receive().carries(changed))
        #expect(proxy.origin.requests.filter { $0.method == "PUT" }.count == 1)
        let memory = proxy.server.context.shared.coding.memory
        try waitUntil("all memory is given back") { memory.takenBytes == 0 }
    }
}
