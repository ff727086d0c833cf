internal import Dictionaries
internal import Primitives
internal import TestSupport
internal import Testing

@testable import Proxy

/// Streams of events, each of which goes out at once.
@Suite(.timeLimit(.minutes(40))) struct EventStreamTests {
    @Test func `events are neither held nor copied nor offered`() throws {
        let gate = Gate()
        let origin = try Origin { _, connection in
            connection.send(
                wire("HTTP/1.1 200 OK", "Content-Type: text/event-stream", "Transfer-Encoding: chunked"))
            for number in 0..<3 {
                connection.send(chunk(Array("data: \(number)\n\n".utf8)))
                gate.wait()
            }
            connection.send(chunk([]))
        }
        let proxy = try TestProxy(origin)
        let client = try proxy.connect()
        client.send(request("/events", ["Accept-Encoding: gzip, br, zstd, dcz"]))
        let answer = try client.receiveHead()
        #expect(answer.coding == "identity")
        #expect(answer["Use-As-Dictionary"] == nil)
        for number in 0..<3 {
            // The upstream sends the next piece only after this one has been read.
            #expect(client.receivePiece(of: answer) == Array("data: \(number)\n\n".utf8))
            gate.open()
        }
        #expect(client.receivePiece(of: answer) == [])
    }

    @Test func `events that are listed by name are coded and flushed one by one`() throws {
        let gate = Gate()
        let origin = try Origin { _, connection in
            connection.send(
                wire("HTTP/1.1 200 OK", "Content-Type: text/event-stream", "Transfer-Encoding: chunked"))
            for number in 0..<Self.codedEvents {
                connection.send(chunk(Array("data: \(number)\n\n".utf8)))
                gate.wait()
            }
            connection.send(chunk([]))
        }
        let proxy = try TestProxy(origin, "compression: {types: [text/event-stream]}")
        let client = try proxy.connect()
        client.send(request("/events", ["Accept-Encoding: gzip"]))
        let answer = try client.receiveHead()
        #expect(answer.coding == "gzip")
        let decoder = try Codec.decoder(for: .gzip, limits: DecoderLimits(maxBytes: .max))
        let began = ContinuousClock.now
        for number in 0..<Self.codedEvents {
            var text: [UInt8] = []
            while text.isEmpty, let piece = client.receivePiece(of: answer), !piece.isEmpty {
                try decoder.decode(piece.span, into: &text)
            }
            #expect(text == Array("data: \(number)\n\n".utf8))
            gate.open()
        }
        // An encoder that is flushed after 10 ms takes a second for all of them; one that waits for seconds, minutes.
        #expect(.now - began < .seconds(120), "each event is flushed soon, although the next has not come")
    }

    private static let codedEvents = 100

    // MARK: Over a dictionary

    private static let held = Feed.bytes(version: 0, items: 40)

    /// An event that resembles a part of `held`.
    private static func event(_ number: Int) -> [UInt8] {
        Array("id: \(number)\ndata: ".utf8) + held[1_000 * number..<1_000 * (number + 1)] + Array("\n\n".utf8)
    }

    /// A proxy whose upstream gives `held` by `/feed/now`, and by `/feed/events` an event each time the gate is opened, from the
    /// one behind Last-Event-ID on.
    private static func proxy(_ gate: Gate) throws -> TestProxy {
        let origin = try Origin { request, connection in
            guard request.target == "/feed/events" else {
                return _ = connection.send(json(held, "Cache-Control: public, max-age=60"))
            }
            connection.send(
                wire(
                    "HTTP/1.1 200 OK", "Content-Type: text/event-stream", "Cache-Control: public",
                    "Transfer-Encoding: chunked"))
            let first = request["Last-Event-ID"].flatMap { Int($0) }.map { $0 + 1 } ?? 0
            for number in first..<first + 2 {
                gate.wait()
                connection.send(chunk(event(number)))
            }
            gate.wait()
        }
        return try TestProxy(
            origin,
            """
            compression: {types: [application/json, text/event-stream]}
            routes: [{match: /feed/*, dictionary: {covers: pattern}}]
            """)
    }

    @Test(arguments: [("dcz, dcb", "dcz"), ("dcb", "dcb")])
    func `a client that reconnects goes on over its dictionary, from the first event on`(
        accept: String, coding: String
    ) throws {
        let gate = Gate()
        let proxy = try Self.proxy(gate)
        _ = try proxy.fetch("/feed/now")
        let memory = proxy.server.context.shared.coding.memory
        for connection in 0..<3 {
            let client = try proxy.connect()
            let last = connection == 0 ? [] : ["Last-Event-ID: \(2 * connection - 1)"]
            client.send(
                request("/feed/events", ["Accept-Encoding: \(accept)", available(Self.held)] + last))
            let answer = try client.receiveHead()
            #expect(answer.coding == coding && answer["Use-As-Dictionary"] == nil)
            let decoder = try Codec.decoder(
                for: answer.contentCoding, dictionary: Body(Self.held), limits: DecoderLimits(maxBytes: .max))
            for number in 2 * connection..<2 * connection + 2 {
                gate.open()
                var (text, codedBytes): ([UInt8], Int) = ([], 0)
                while text.count < Self.event(number).count, let piece = client.receivePiece(of: answer),
                    !piece.isEmpty
                {
                    codedBytes += piece.count
                    try decoder.decode(piece.span, into: &text)
                }
                #expect(text == Self.event(number))
                #expect(codedBytes < 120, "the header, and what names a part of the dictionary")
            }
            #expect(memory.takenBytes > 0)
            client.finish()
            gate.open()
            try waitUntil("its encoder's memory is given back") { memory.takenBytes == 0 }
        }
    }
}
