internal import Dictionaries
internal import Glibc
internal import HTTP
internal import Primitives
internal import Storage
internal import TestSupport

@testable import Proxy

/// A proxy in this process, on two loops, before an upstream of the test; ends both with itself.
final class TestProxy {
    let origin: Origin
    let server: ProxyServer
    /// The access log, if it is on.
    let log: LineReader?
    /// The events of the operator's log.
    let events = Guarded<[OperatorEvent]>([])
    /// The ids that bodies were offered with, which clients send back: the last of each, and of each client's request.
    private let ids = Guarded<[String: String]>([:])
    private let sink: LogSink?
    var isStopped = false

    /// Starts with the settings of a test in YAML: those below `upstream` and all others.
    init(
        _ origin: Origin, upstream: String = "", _ settings: String = "", store: String = ":memory:",
        isLogged: Bool = false, accessLog: LogSink? = nil, loops: Int = 2, links: LinkTerms = LinkTerms(),
        deltaFault: FaultyEncoder.Fault? = nil,
        urls: [String]? = nil, resolver: NameResolver = .system, inherited: InheritedSockets = .none,
        listener: (inout Configuration.Listener) -> Void = { _ in },
        change: (inout Configuration) -> Void = { _ in }
    ) throws {
        _ = Self.ignoresBrokenPipes
        self.origin = origin
        var configuration = try Self.configuration(
            origin, upstream: upstream, settings, store: store, urls: urls)
        listener(&configuration.listeners[0])
        change(&configuration)
        let context = try FaultyEncoder.with(deltaFault) { [events] in
            try ProxyContext.open(
                configuration, log: { event in events.withLock { $0.append(event) } }, loopCount: loops,
                resolver: resolver, links: links)
        }
        log = isLogged ? try LineReader() : nil
        sink = accessLog ?? log.map { LogSink(descriptor: $0.writeEnd) }
        server = try ProxyServer(
            context: context, accessLog: sink.map { .init(sink: $0, isJSON: true) }, inherited: inherited)
    }

    /// Ignores SIGPIPE, as the program does: the reader of its log may go away.
    private static let ignoresBrokenPipes: Void = {
        signal(SIGPIPE, SIG_IGN)
    }()

    /// The settings of a test, at free ports of this machine unless they say where.
    static func configuration(
        _ origin: Origin, upstream: String = "", _ settings: String = "", store: String = ":memory:",
        urls: [String]? = nil
    ) throws -> Configuration {
        let urls = urls ?? ["http://127.0.0.1:\(origin.port)"]
        let text = """
            upstream:
              urls: [\(urls.map { "\"\($0)\"" }.joined(separator: ", "))]
              \(upstream)
            \(settings)
            """
        var configuration = try Configuration.parse(Array(text.utf8))
        let standard = Configuration()
        let free = ConfiguredAddress.tcp(host: "127.0.0.1", port: 0)
        if configuration.listeners == standard.listeners { configuration.listeners = [.init(address: free)] }
        if configuration.admin?.address == standard.admin?.address { configuration.admin?.address = free }
        configuration.store.path = store
        return configuration
    }

    /// Has the proxy go on with other settings; returns those that wait for the next start.
    @discardableResult
    func reload(_ settings: String, upstream: String = "", before other: Origin? = nil) throws -> [String] {
        try server.reload(Self.configuration(other ?? origin, upstream: upstream, settings))
    }

    /// Starts before an upstream that gives these wire bytes every time.
    convenience init(_ answer: [UInt8], _ settings: String = "") throws {
        try self.init(try Origin(answer), settings)
    }

    deinit {
        stop()
    }

    /// Ends the proxy and its upstream.
    func stop() {
        guard !isStopped else { return }
        isStopped = true
        server.stop(drainMilliseconds: 2_000)
        // A later write would find the descriptor closed, or reused by another test.
        _ = sink?.drain(timeoutMilliseconds: 60_000)
        origin.stop()
    }

    /// Ends the proxy; all lines of its access log that were not read.
    func lastLines() -> [String] {
        stop()
        return log?.rest() ?? []
    }

    /// A new connection to the proxy.
    func connect(receiveBytes: Int32? = nil) throws -> WireSocket {
        try WireSocket(port: Self.port(server.endpoints.first), receiveBytes: receiveBytes)
    }

    /// Sends one request on a new connection, and returns the response.
    func fetch(
        _ target: String, _ fields: String..., method: String = "GET", host: String = "api.test",
        body: [UInt8]? = nil
    ) throws -> WireMessage {
        let client = try connect()
        client.send(request(target, fields, method: method, host: host, body: body))
        let answer = try client.receive(isBodiless: method == "HEAD")
        return learn(answer, over: nil, names(target, fields, host: host))
    }

    /// Fetches a target for three clients, so that its body is proven to be public; returns the responses.
    @discardableResult
    func prove(_ target: String, _ fields: String..., host: String = "api.test") throws -> [WireMessage] {
        try (1...3).map { number in
            let client = try connect()
            client.send(request(target, [forwarded(for: number)] + fields, host: host))
            return try client.receive()
        }
    }

    /// Sends one request with a dictionary and its last offered id on a new connection, and returns the response.
    func fetch(
        _ target: String, over dictionary: [UInt8], _ fields: String..., accept: String = "dcz, dcb",
        method: String = "GET", host: String = "api.test", body: [UInt8]? = nil
    ) throws -> WireMessage {
        let client = try connect()
        var all = ["Accept-Encoding: \(accept)", available(dictionary)] + fields
        let names = names(target, fields, host: host)
        if let id = id(of: dictionary, names), !fields.contains(where: { $0.hasPrefix("Dictionary-ID") }) {
            all.append("Dictionary-ID: \"\(id)\"")
        }
        client.send(request(target, all, method: method, host: host, body: body))
        return learn(try client.receive(isBodiless: method == "HEAD"), over: dictionary, names)
    }

    /// Returns the names under which the request's ids are kept, the narrowest first.
    private func names(_ target: String, _ fields: [String], host: String) -> [String] {
        let path = target.prefix { $0 != "?" }
        let login = fields.filter { $0.hasPrefix("Authorization") || $0.hasPrefix("Cookie") }.sorted()
        return ["\(host)\(path) \(login)", "\(host)\(path)", ""]
    }

    /// The id that a body was offered with last, to such a request or to any.
    func id(of body: [UInt8], _ names: [String] = [""]) -> String? {
        let digest = Digest(of: body.span).hex
        return ids.withLock { ids in names.first { ids[$0 + digest] != nil }.flatMap { ids[$0 + digest] } }
    }

    private func learn(_ answer: WireMessage, over dictionary: [UInt8]?, _ names: [String]) -> WireMessage {
        if let field = answer["Use-As-Dictionary"], let offer = UseAsDictionary.parse([field]),
            !offer.id.isEmpty, let body = try? answer.decoded(over: dictionary)
        {
            let digest = Digest(of: body.span).hex
            ids.withLock { ids in
                for name in names { ids[name + digest] = offer.id }
            }
        }
        return answer
    }

    /// The metrics as an operator reads them.
    func metrics() throws -> String {
        try admin("GET /metrics HTTP/1.1", "Host: localhost").text
    }

    /// The value of one series, named as `/metrics` writes it; 0 where it is not there.
    func metric(_ series: String) throws -> Int {
        let line = try metrics().split(separator: "\n").first { $0.hasPrefix(series + " ") }
        return line.flatMap { Int($0.dropFirst(series.count + 1)) } ?? 0
    }

    /// Waits until the delta statistics fulfil a condition.
    func untilDeltas(_ isSo: (DeltaStatistics) -> Bool) throws {
        try waitUntil("what makes deltas has done it") { isSo(server.context.deltas.statistics) }
    }

    /// Has every lane of the compression pool wait; whether others find a place behind depends on `bytes`.
    func blockPool(bytes: Int) throws -> [Gate] {
        let pool = server.context.compressionPool
        // A queue counts a job until a moment after its response.
        try waitUntil("the pool has nothing to do") { pool.waitingBytes == 0 }
        return (0..<2).map { _ in
            let (begun, gate) = (Gate(), Gate())
            let isTaken = pool.submit(bytes: bytes) {
                begun.open()
                gate.wait(seconds: 50)
            }
            if isTaken { begun.wait() }
            return gate
        }
    }

    /// Sends one request, given by its lines, to the admin listener, and returns the response.
    func admin(_ lines: String..., body: [UInt8]? = nil) throws -> WireMessage {
        let client = try WireSocket(port: Self.port(server.adminEndpoint))
        client.send(wire(lines.joined(separator: "\r\n"), body: body))
        return try client.receive(isBodiless: lines.first?.hasPrefix("HEAD") == true)
    }

    /// Turns the switch of the admin listener; returns the status.
    func turn(_ word: String) throws -> Int {
        try admin(
            "POST /dictionaries/\(word) HTTP/1.1", "Host: localhost", "Content-Type: application/json"
        ).status
    }

    /// The port of an endpoint.
    static func port(_ endpoint: Endpoint?) throws -> UInt16 {
        guard case .ip(_, let port)? = endpoint else { throw WireError.cannotConnect(0) }
        return port
    }
}

/// A request in wire bytes.
func request(
    _ target: String, _ fields: [String], method: String = "GET", host: String = "api.test",
    body: [UInt8]? = nil
) -> [UInt8] {
    wire((["\(method) \(target) HTTP/1.1", "Host: \(host)"] + fields).joined(separator: "\r\n"), body: body)
}

/// The fields by which a trusted proxy names a client.
func forwarded(for client: Int) -> String {
    "X-Forwarded-For: 203.0.113.\(client)\r\nX-Forwarded-Proto: https"
}

/// The field that offers a dictionary.
func available(_ dictionary: [UInt8]) -> String {
    "Available-Dictionary: :\(Digest(of: dictionary.span).base64):"
}

/// A 200 of HTML in wire bytes.
func html(_ body: [UInt8], _ fields: String...) -> [UInt8] {
    wire((["HTTP/1.1 200 OK", "Content-Type: text/html"] + fields).joined(separator: "\r\n"), body: body)
}

/// A 200 of JSON in wire bytes, for everybody unless a field says otherwise.
func json(_ body: [UInt8], _ fields: String...) -> [UInt8] {
    let isSilent = !fields.contains { $0.lowercased().contains("cache-control:") }
    return wire(
        (["HTTP/1.1 200 OK", "Content-Type: application/json"] + (isSilent ? ["Cache-Control: public"] : [])
            + fields)
            .joined(separator: "\r\n"), body: body)
}

extension WireMessage {
    /// The coding of the body.
    var contentCoding: ContentCoding {
        ContentCoding.allCases.first { $0.token == self["Content-Encoding"] } ?? .identity
    }

    /// The name of that coding.
    var coding: String { self["Content-Encoding"] ?? "identity" }

    /// Returns true if the message is complete and its encoded body equals these bytes.
    ///
    /// Tests use this instead of `==`, which compares megabytes element by element when the expectation fails.
    func carries(_ body: [UInt8]) -> Bool { isWhole && self.body == body }

    /// Returns true if the message is complete and its decoded body equals these bytes.
    func carriesDecoded(_ body: [UInt8], over dictionary: [UInt8]? = nil) throws -> Bool {
        try isWhole && decoded(over: dictionary) == body
    }

    fileprivate func decoded(over dictionary: [UInt8]?) throws -> [UInt8] {
        let coding = contentCoding
        return try Codec.decode(
            body.span, coding, dictionary: coding.usesDictionary ? dictionary.map { Body($0) } : nil,
            limits: DecoderLimits(maxBytes: 1 << 28, maxRatio: 1 << 20))
    }
}
