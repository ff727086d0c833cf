internal import Dictionaries
internal import Foundation
internal import HTTP

/// The method and the content of a request, as curl's -X and -d give them.
struct FetchContent: Sendable, Equatable {
    private static let bytesMax = 64 << 20

    /// The method of -X, which stays whatever happens; nil without it.
    private var chosen: Method?
    /// The content of -d; nil without it, or after a redirect that leaves it behind.
    private var data: [UInt8]?

    var method: Method { chosen ?? (data == nil ? .get : .post) }

    var bytes: [UInt8] { data ?? [] }

    init() {}

    /// Reads the content: pieces joined by `&`, each a text, `@FILE` or `@-`; the method is POST if nothing says otherwise.
    ///
    /// As in curl, files are without their CR, LF and NUL.
    init(method: String?, data pieces: [String]) throws(FetchError) {
        if let method {
            guard let parsed = Method(method), parsed != .connect else {
                throw .content("-X \(method): expected a method, such as PUT")
            }
            chosen = parsed
        }
        guard !pieces.isEmpty else { return }
        var bytes: [UInt8] = []
        for (index, piece) in pieces.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: "&")) }
            bytes += piece.hasPrefix("@") ? try Self.read(String(piece.dropFirst())) : Array(piece.utf8)
        }
        guard bytes.count <= Self.bytesMax else {
            throw .content(
                "-d: the content has more than \(Self.bytesMax) bytes, the limit of fetch and doctor")
        }
        data = bytes
    }

    private static func read(_ name: String) throws(FetchError) -> [UInt8] {
        do throws(CommandError) {
            return try InputFile.read(name, max: bytesMax)
                .filter { $0 != 0 && $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
        } catch {
            throw .content("-d: \(error)")
        }
    }

    /// True if dictionaries may have a part in the request: it asks for a representation, and sends none.
    var mayUseDictionaries: Bool { method == .get && data == nil }

    /// Adds the fields of the content to those of a request.
    func add(to headers: inout Headers) {
        guard data != nil || method == .post || method == .put else { return }
        headers.append(.contentLength, UInt64(bytes.count))
        if data != nil { headers.append(.contentType, "application/x-www-form-urlencoded") }
    }

    /// Returns the content for the request after a redirect, and whether that is the same; nil if the status is none.
    ///
    /// As in curl, -d makes a request the POST that a redirect turns into a GET, whatever -X calls it.
    func redirected(status: Int) -> (next: FetchContent, isKept: Bool)? {
        guard let rule = Redirect.next(status: status, method: data == nil ? "GET" : "POST") else {
            return nil
        }
        var next = self
        if !rule.keepsContent { next.data = nil }
        return (next, rule.keepsContent)
    }
}

/// The request of a fetch, which changes from redirect to redirect; pure.
struct FetchTarget: Sendable {
    let url: FetchURL
    let fields: RequestFields
    let content: FetchContent

    /// Returns the request that a response redirects to; nil if it is no redirect.
    ///
    /// Another origin gets no credentials, and those after it neither.
    func next(after head: ResponseHead) throws(FetchError) -> FetchTarget? {
        guard let (content, isKept) = content.redirected(status: Int(head.status.rawValue)),
            let location = head.headers.first(.location)
        else { return nil }
        guard let next = FetchURL(location, relativeTo: url) else { throw .redirect(location) }
        let isOther = next.origin != url.origin
        let fields = fields.only { Redirect.takesAlong($0, toOtherOrigin: isOther, keepsContent: isKept) }
        return FetchTarget(url: next, fields: fields, content: content)
    }
}
