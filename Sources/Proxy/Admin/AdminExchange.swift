internal import HTTP
internal import Primitives

final class AdminExchange: Handler, RequestHandler {
    private let stream: any ResponseStream
    private let isHead: Bool
    let request: AdminRequest
    /// The registration on the loop while another thread prepares the response.
    var token: Token?
    /// True once the client has left, for that other thread.
    let isLost = Guarded(false)
    /// The change to make once the request's body has arrived; it answers, now or later.
    private var work: (([UInt8]) -> Void)?
    private var body: [UInt8] = []

    private static let bodyBytesMax = 64 * 1024

    init(_ stream: any ResponseStream, _ head: RequestHead) {
        self.stream = stream
        isHead = head.method == .head
        request = AdminRequest(head)
    }

    /// Does the work and responds once the request is complete.
    func whenWhole(_ framing: BodyFraming, _ head: RequestHead, work: @escaping ([UInt8]) -> Void) {
        guard framing.hasBody else { return work([]) }
        self.work = work
        if head.headers.contains(.expect) { stream.sendInterim(ResponseHead(status: .continue)) }
    }

    func answer(_ answer: AdminResponse) {
        release()
        stream.respond(answer.head, answer.body, isHead: isHead)
    }

    /// Refuses the request, in the media type that the client accepts.
    func refuse(_ refusal: AdminRefusal) { answer(AdminResponse(refusal, accept: request.accept)) }

    private func release() {
        if let token { stream.core.remove(token) }
        token = nil
        work = nil
        body = []
    }

    func received(_ bytes: Span<UInt8>) {
        guard work != nil else { return }
        body.append(bytes)
        guard body.count > Self.bodyBytesMax else { return }
        refuse(AdminRefusal(.contentTooLarge, "The request's body is too large."))
    }

    func receivedEnd(trailers: Headers) {
        exchange(&work, with: nil)?(body)
    }

    func malformed(_ error: ParseError) {
        guard work != nil else { return stream.abort() }
        refuse(AdminRefusal(.badRequest, "The request's body is malformed."))
    }

    func drained() {}
    func aborted(_ cause: ClientLoss) {
        isLost.withLock { $0 = true }
        release()
    }
}

struct AdminResponse: Sendable {
    let head: ResponseHead
    let body: [UInt8]

    init(_ status: Status, _ line: String) {
        self.init(status, line + "\n", contentType: "text/plain; charset=utf-8")
    }

    init(
        _ status: Status, _ text: String, contentType: String,
        fields: [(name: HeaderName, value: String)] = []
    ) {
        var headers = Headers()
        headers.append(.contentType, contentType)
        headers.append(.cacheControl, "no-store")
        for (name, value) in fields { headers.append(name, value) }
        self.init(ResponseHead(status: status, headers: headers), Array(text.utf8))
    }

    init(_ refusal: AdminRefusal, accept: String?) {
        let rendered = ProblemResponse(status: refusal.status, detail: refusal.detail).rendered(
            accept: accept)
        var head = rendered.head
        if let (name, value) = refusal.field { head.headers.append(name, value) }
        self.init(head, rendered.body)
    }

    private init(_ head: ResponseHead, _ body: [UInt8]) {
        var head = head
        // No other page may read a response, or take it for something else.
        head.headers.append(.xContentTypeOptions, "nosniff")
        head.headers.append(.crossOriginResourcePolicy, "same-origin")
        (self.head, self.body) = (head, body)
    }
}

/// The reason why the admin listener refuses a request.
struct AdminRefusal: Error {
    let status: Status
    let detail: String
    /// A field that the status requires: Allow, WWW-Authenticate or Accept.
    var field: (HeaderName, String)?

    init(_ status: Status, _ detail: String, _ field: (HeaderName, String)? = nil) {
        self.status = status
        self.detail = detail
        self.field = field
    }
}
