internal import HTTP

/// The demo's API on its loop: one resource whose content changes.
///
/// Confined to the loop.
final class DemoApplication: LocalApplication {
    static let path = "/feed"
    private static let changeMilliseconds: Int64 = 5_000

    private let versions: DemoVersions
    private var number = 0
    private var body: [UInt8] = []
    private let core: EventLoop.Core
    var token = Token.none

    init(versions: DemoVersions, core: EventLoop.Core) {
        self.versions = versions
        self.core = core
    }

    /// Serves this version from now on.
    func show(_ number: Int, _ body: [UInt8]) {
        self.number = number
        self.body = body
    }

    /// Changes the content every few seconds from now on.
    func keepChanging() { core.setDeadline(token, core.now + Self.changeMilliseconds) }

    func expired(_ core: EventLoop.Core) {
        // If a file has disappeared, the content stays as it is.
        if let next = try? versions.body(number + 1) { show(number + 1, next) }
        keepChanging()
    }

    func begin(
        _ head: consuming RequestHead, framing: BodyFraming, on stream: any ResponseStream
    ) -> any RequestHandler {
        let isKnown = head.target.path == Self.path
        var response = ResponseHead(status: isKnown ? .ok : .notFound)
        response.headers.append(.contentType, isKnown ? versions.mediaType : "text/plain")
        if isKnown { response.headers.append(.cacheControl, "max-age=60") }
        let body = isKnown ? body : Array("The demo serves only \(Self.path).\n".utf8)
        return WholeResponse(response, body, isHead: head.method == .head, on: stream)
    }
}
