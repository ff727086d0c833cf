internal import Dictionaries
internal import HTTP

/// The result that a client under test gave to its app.
enum Delivered: Sendable, Equatable {
    case body(Digest)
    case nothing(String)
}

/// The part of the judge that tells a page, or a script, which URL is next.
///
/// `GET /next` returns a URL. `GET /next?sha256=HEX` or `GET /next?failed=REASON` tells the result, and returns the URL
/// after it; 204 ends. Confined to the loop of the server.
final class PageDesk {
    /// The Links of the page, since browsers follow those of documents only.
    var links: [String] = []
    private var waiting: WaitingResponse?
    /// The URL that was handed out, or is to be; nil before the first one, and inside it at the end.
    private var next: (url: String?, onResult: (Delivered) -> Void)?
    /// The URL that the client was told last: its result is about that, even if another one is next by now.
    private var told: String?

    /// Sets the next URL, or nil for the end.
    func hand(_ url: String?, _ onResult: @escaping (Delivered) -> Void) {
        next = (url, onResult)
        tell(url)
    }

    private func tell(_ url: String?) {
        guard waiting?.send(url) == true else { return }
        (waiting, told) = (nil, url)
    }

    /// Takes a request for the page, or for the next URL; returns nil for others.
    func begin(_ head: borrowing RequestHead, on stream: any ResponseStream) -> (any RequestHandler)? {
        switch head.target.path {
        case "/":
            var response = ResponseHead(status: .ok)
            response.headers.append(.contentType, "text/html; charset=utf-8")
            response.headers.append(.cacheControl, "no-store")
            for link in links { response.headers.append(.link, link) }
            return WholeResponse(
                response, PackageResources.page_html, isHead: head.method == .head, on: stream)
        case "/next":
            let response = WaitingResponse(stream)
            waiting = response
            if let result = head.target.query.flatMap(Self.result), let next, next.url == told {
                // The next URL comes from another thread.
                self.next = nil
                next.onResult(result)
            } else if let next {
                tell(next.url)
            }
            return response
        default: return nil
        }
    }

    private static func result(_ query: String) -> Delivered? {
        if query.hasPrefix("sha256=") {
            return Digest(hex: String(query.dropFirst(7))).map { .body($0) }
        }
        return query.hasPrefix("failed") ? .nothing(String(query.dropFirst(7))) : nil
    }
}

/// A response that is sent once there is a next URL.
private final class WaitingResponse: IncuriousHandler {
    private var stream: (any ResponseStream)?

    init(_ stream: any ResponseStream) { self.stream = stream }

    /// Sends a URL, or the end; returns false if the client has gone.
    func send(_ url: String?) -> Bool {
        guard let stream else { return false }
        self.stream = nil
        var response = ResponseHead(status: url == nil ? .noContent : .ok)
        response.headers.append(.contentType, "text/plain")
        response.headers.append(.cacheControl, "no-store")
        stream.respond(response, Array((url ?? "").utf8), isHead: false)
        return true
    }

    func malformed(_ error: ParseError) { stream?.abort() }

    func aborted(_ cause: ClientLoss) { stream = nil }
}
