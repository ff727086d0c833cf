internal import HTTP
internal import Primitives
internal import TestSupport

/// The rules for the frames of a client, through a whole connection: the server answers a PING behind them or says by
/// GOAWAY why it ends, and everything that it sends are frames that a client may expect.
enum HTTP2Rules {
    private static let types: [UInt8] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 200]
    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    private static let mark: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]

    static func check(_ bytes: [UInt8]) throws(BrokenRule) {
        guard let port = EchoServer.port, let client = try? WireSocket(port: port) else {
            throw BrokenRule("the server accepts a connection")
        }
        client.resetOnEnd()
        let input = preface + frame(4) + frames(bytes) + frame(6, payload: mark)
        var cuts = Cuts(bytes)
        var start = 0
        while start < input.count {
            // Long pieces, since each is a system call.
            let end = min(input.count, start + 64 * (cuts.next(after: 0, count: 64)))
            guard client.send(Array(input[start..<end])) else { break }
            start = end
        }
        try checkFrames(of: client, mayEndSilently: hasGoAway(bytes))
    }

    /// Makes whole frames of any bytes: four of them are a frame's type, flags, stream and length.
    private static func frames(_ bytes: [UInt8]) -> [UInt8] {
        var frames: [UInt8] = []
        var place = 0
        while place + 4 <= bytes.count {
            let head = bytes[place..<place + 4]
            let payload = bytes[(place + 4)...].prefix(Int(head[place + 3]))
            frames += frame(
                types[Int(head[place]) % types.count], flags: head[place + 1], stream: head[place + 2],
                payload: Array(payload))
            place += 4 + payload.count
        }
        return frames
    }

    /// Returns true if the client says that it ends; the server may end then without a word.
    private static func hasGoAway(_ bytes: [UInt8]) -> Bool {
        var place = 0
        while place + 4 <= bytes.count {
            if types[Int(bytes[place]) % types.count] == 7 { return true }
            place += 4 + min(Int(bytes[place + 3]), bytes.count - place - 4)
        }
        return false
    }

    private static func frame(_ type: UInt8, flags: UInt8 = 0, stream: UInt8 = 0, payload: [UInt8] = [])
        -> [UInt8]
    {
        [0, UInt8(payload.count >> 8), UInt8(payload.count & 255), type, flags, 0, 0, 0, stream] + payload
    }

    private static func checkFrames(of client: WireSocket, mayEndSilently: Bool) throws(BrokenRule) {
        var ended: Set<[UInt8]> = []
        var isFirst = true
        var hasGoAway = false
        while let head = client.receiveExactly(9) {
            let (type, flags, stream) = (head[3], head[4], Array(head[5..<9]))
            let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
            try require(length <= 16_384, "no frame is longer than the client allows")
            guard let payload = client.receiveExactly(length) else { break }
            try require(!isFirst || type == 4, "the first frame is SETTINGS")
            isFirst = false
            switch type {
            case 0, 1, 3, 9:
                try require(stream[3] % 2 == 1, "a response is on a stream of the client")
                try require(!ended.contains(stream) || type == 3, "nothing follows the end of a stream")
                if type == 3 || (type < 2 && flags & 1 != 0) { ended.insert(stream) }
            case 4, 6, 7: try require(stream == [0, 0, 0, 0], "a frame of the connection is on stream 0")
            case 8: break
            default: throw BrokenRule("no other type of frame is sent")
            }
            if type == 7 { hasGoAway = true }
            if type == 6, flags & 1 != 0, payload == mark { return }
        }
        // A reset may have destroyed what was sent before it.
        if case .reset? = client.ending { return }
        try require(
            hasGoAway || mayEndSilently, "a connection that ends says why, and every PING is answered")
    }
}

/// A server that tells each client how long its request's body was.
private enum EchoServer {
    /// The port of the only server, nil if it could not start; it runs as long as the process.
    static let port: UInt16? = {
        guard let address = IPAddress("127.0.0.1"),
            let socket = try? ListeningSocket.open(.ip(address, port: 0), count: 1).first,
            case .ip(_, let port) = socket.endpoint
        else { return nil }
        loop.execute { core in
            let listener = Listener(
                sockets: [socket], application: EchoApplication(), settings: ServerSettings(),
                count: ConnectionCount())
            listener.start(on: core)
            _ = core.add(listener)
        }
        return port
    }()

    private static let loop = EventLoop(label: "fuzz.server")
}

private final class EchoApplication: Application {
    func begin(
        _ head: consuming RequestHead, framing: BodyFraming, on stream: any ResponseStream
    ) -> any RequestHandler {
        let exchange = EchoExchange(stream)
        if framing == .none || framing == .length(0) { exchange.receivedEnd(trailers: Headers()) }
        return exchange
    }

    func refuse(_ refusal: Refusal, from peer: Endpoint?, send: (ResponseHead, [UInt8]) -> Int) {
        _ = send(ResponseHead(status: .badRequest, headers: Headers()), Array("refused".utf8))
    }
}

private final class EchoExchange: RequestHandler {
    private var stream: (any ResponseStream)?
    private var count = 0

    init(_ stream: any ResponseStream) { self.stream = stream }

    func received(_ bytes: Span<UInt8>) { count += bytes.count }

    func receivedEnd(trailers: Headers) {
        guard let stream else { return }
        self.stream = nil
        // The length decides the way that the body goes out.
        let body = [UInt8](repeating: 0x61, count: count * 64)
        stream.start(
            ResponseHead(status: .ok, headers: Headers()),
            body: count % 2 == 0 ? .length(UInt64(body.count)) : .chunked)
        stream.write(body.span)
        stream.finish(trailers: trailers)
    }

    func malformed(_ error: ParseError) {
        stream?.abort()
        stream = nil
    }

    func drained() {}

    func aborted(_ cause: ClientLoss) { stream = nil }
}
