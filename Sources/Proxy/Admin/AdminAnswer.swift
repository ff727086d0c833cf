internal import HTTP

/// A response of the admin listener.
struct AdminAnswer: Sendable {
    let head: ResponseHead
    let body: [UInt8]

    /// Creates a response of one line of text.
    init(_ status: Status, _ line: String) {
        self.init(status, line + "\n", contentType: "text/plain; charset=utf-8")
    }

    init(_ status: Status, _ text: String, contentType: String) {
        var headers = Headers()
        headers.append(.contentType, contentType)
        headers.append(.cacheControl, "no-store")
        head = ResponseHead(status: status, headers: headers)
        body = Array(text.utf8)
    }

    /// Creates the response to a refused request, in the media type that the client accepts.
    init(_ refusal: AdminRefusal, accept: String?) {
        let rendered = ProblemResponse(status: refusal.status, detail: refusal.detail).rendered(
            accept: accept)
        var head = rendered.head
        if let (name, value) = refusal.field { head.headers.append(name, value) }
        self.head = head
        body = rendered.body
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
