internal import Dictionaries
internal import HTTP
internal import Primitives

/// A request as the judge has seen it, and how it was responded to.
struct SeenRequest: Sendable, Equatable {
    let path: String
    var isElsewhere: Bool
    /// The monotonic time of the response, in nanoseconds.
    var respondedAt: Int64 = 0
    var version = HTTPVersion.http11
    /// The path whose body it names.
    var named: String?
    /// True if it names something that is no body of the judge's.
    var namesUnknown = false
    var id: String?
    var acceptsDictionaries = false
    var status = Status.ok
    var coding = ContentCoding.identity
}

/// The server that a client under test talks to: two origins with the same resources.
///
/// Safe from any thread except its loop.
final class JudgeServer: Sendable {
    let bodies: JudgeBodies
    private let server: LocalServer<JudgeApplication>
    private let seen = Guarded<[SeenRequest]>([])
    private let scheme: String
    private let host: String

    /// Listens at an address, and at a port beside it for the other origin; `host` is the name in URLs.
    init(
        _ rules: [ClientRule], at address: (host: String, port: UInt16), host: String, tls: TLSServer?
    ) throws(CommandError) {
        let steps = rules.flatMap { $0.steps + $0.others }
        let bodies = JudgeBodies(steps)
        var settings = ServerSettings()
        settings.tls = tls
        let seen = seen
        server = try LocalServer(
            "dictum.conformance", at: [address, (address.host, 0)], settings: settings
        ) { core in
            JudgeApplication(steps, bodies, core) { request in seen.withLock { $0.append(request) } }
        }
        self.bodies = bodies
        // Clients send it in lower case (RFC 3986 section 6.2.2.1).
        self.host = host.lowercased()
        scheme = tls == nil ? "http" : "https"
        server.execute { [elsewhere] in $0.elsewhere = elsewhere }
    }

    var origin: String { "\(scheme)://\(host):\(Self.port(server.endpoints[0]))" }
    /// The same resources at another port, and so at another origin.
    var elsewhere: String { "\(scheme)://\(host):\(Self.port(server.endpoints[1]))" }

    private static func port(_ endpoint: Endpoint) -> UInt16 {
        if case .ip(_, let port) = endpoint { port } else { 0 }
    }

    func url(of step: Step) -> String { (step.isElsewhere ? elsewhere : origin) + step.path }

    var seenCount: Int { seen.withLock { $0.count } }

    func requests(from number: Int) -> [SeenRequest] { seen.withLock { Array($0[number...]) } }

    /// Tells a page the next URL, or nil that there is none; `onResult` gets what the page says of it.
    func handPage(_ url: String?, onResult: @escaping @Sendable (Delivered) -> Void) {
        server.execute { $0.page.hand(url, onResult) }
    }

    func stop() {
        // What has been written goes out at the end of a batch of events; this is the next one.
        server.execute { _ in }
        server.stop()
    }
}

/// The judge's resources on their loop.
///
/// Confined to the loop.
private final class JudgeApplication: LocalApplication {
    private let steps: [String: Step]
    private let bodies: JudgeBodies
    private let onRequest: (SeenRequest) -> Void
    let page = PageDesk()
    var elsewhere = ""
    private var broken: [any ResponseStream] = []
    private let core: EventLoop.Core
    var token = Token.none

    private static let breakMilliseconds: Int64 = 100

    init(
        _ steps: [Step], _ bodies: JudgeBodies, _ core: EventLoop.Core,
        onRequest: @escaping (SeenRequest) -> Void
    ) {
        self.core = core
        self.steps = Dictionary(steps.map { ($0.path, $0) }, uniquingKeysWith: { one, _ in one })
        self.bodies = bodies
        self.onRequest = onRequest
        page.links = steps.flatMap(\.fields).filter { $0.name == "link" }.map(\.value)
    }

    func begin(
        _ head: consuming RequestHead, framing: BodyFraming, on stream: any ResponseStream
    ) -> any RequestHandler {
        let path = String(decoding: head.target.pathAndQuery, as: UTF8.self)
        if let handler = page.begin(head, on: stream) { return handler }
        let isHead = head.method == .head
        guard let step = steps[path], let body = bodies[path] else {
            return WholeResponse(ResponseHead(status: .notFound), [], isHead: isHead, on: stream)
        }
        var seen = SeenRequest(
            path: path, isElsewhere: elsewhere.hasSuffix("//" + (head.authority ?? "")),
            respondedAt: SystemClock.monotonicNanoseconds)
        let dictionary = note(head, in: &seen)
        let (response, sent) = respond(step, body, over: dictionary, head, &seen)
        onRequest(seen)
        if seen.coding.usesDictionary, step.sends == .damaged(.brokenOff) {
            return breakOff(response, sent, stream)
        }
        return WholeResponse(response, sent, isHead: isHead, on: stream)
    }

    /// Sends half of a body; the connection ends a moment later, when that has gone out.
    private func breakOff(
        _ head: consuming ResponseHead, _ body: [UInt8], _ stream: any ResponseStream
    ) -> any RequestHandler {
        stream.start(head, body: .length(UInt64(body.count)))
        let half = body[..<(body.count / 2)]
        stream.write(half.span)
        broken.append(stream)
        core.setDeadline(token, core.now + Self.breakMilliseconds)
        return RespondedRequest()
    }

    func expired(_ core: EventLoop.Core) {
        for stream in broken { stream.abort() }
        broken = []
    }

    /// Notes the fields of a request; returns the dictionary that it names.
    private func note(_ head: borrowing RequestHead, in seen: inout SeenRequest) -> Body? {
        seen.version = head.version
        let lines = head.headers.values(.availableDictionary)
        let path = AvailableDictionary.parse(lines).flatMap(bodies.path)
        seen.named = path
        seen.namesUnknown = !lines.isEmpty && path == nil
        let id = head.headers.values(.dictionaryID)
        seen.id = id.isEmpty ? nil : DictionaryID.parse(id) ?? "malformed"
        let accepted = AcceptEncoding(head.headers.values(.acceptEncoding))
        seen.acceptsDictionaries = ContentCoding.overDictionary.contains { accepted.quality(of: $0) > 0 }
        return path.flatMap { bodies[$0] }
    }

    private func respond(
        _ step: Step, _ body: Body, over dictionary: Body?, _ head: borrowing RequestHead,
        _ seen: inout SeenRequest
    ) -> (ResponseHead, [UInt8]) {
        var response = ResponseHead(status: .ok)
        for (name, value) in step.fields { HeaderName(name).map { response.headers.append($0, value) } }
        response.headers.append(.vary, "accept-encoding, available-dictionary, dictionary-id")
        // A page asks both origins.
        HeaderName("access-control-allow-origin").map { response.headers.append($0, "*") }
        if case .redirect(let path) = step.sends {
            response.status = Status(rawValue: 302)
            response.headers.append(.location, elsewhere + path)
        } else if step.sends == .missing {
            response.status = .notFound
        } else if let etag = response.headers.first(.etag), head.headers.first(.ifNoneMatch) == etag {
            response.status = .notModified
        }
        seen.status = response.status
        guard response.status == .ok else { return (response, []) }
        response.headers.append(.contentType, "application/json")
        guard let (coding, coded) = delta(of: step, body, over: dictionary, head) else {
            return (response, body.bytes)
        }
        seen.coding = coding
        response.headers.append(.contentEncoding, coding.token)
        return (response, coded)
    }

    /// Returns the coded body, if the request has a dictionary, and accepts a coding of the step.
    private func delta(
        of step: Step, _ body: Body, over dictionary: Body?, _ head: borrowing RequestHead
    ) -> (ContentCoding, [UInt8])? {
        // Any other body is a dictionary that the client cannot know of.
        if step.sends == .unasked {
            let unknown = Body(Array("unknown".utf8))
            return JudgeBodies.coded(body, .dcz, over: unknown, as: step.sends).map { (.dcz, $0) }
        }
        guard let dictionary else { return nil }
        let accepted = AcceptEncoding(head.headers.values(.acceptEncoding))
        let codings: [ContentCoding] =
            if case .body(let codings) = step.sends { codings } else { ContentCoding.overDictionary }
        for coding in codings where accepted.quality(of: coding) > 0 {
            if let coded = JudgeBodies.coded(body, coding, over: dictionary, as: step.sends) {
                return (coding, coded)
            }
        }
        return nil
    }
}

private final class RespondedRequest: IncuriousHandler {}
