internal import Dictionaries
internal import Foundation
internal import HTTP

/// The method and the content of a request, as curl's -X and -d give them.
struct FetchContent: Sendable, Equatable {
    private static let bytesMax = 64 << 20

    private(set) var method = Method.get
    private(set) var bytes: [UInt8] = []

    init() {}

    /// Reads the content: pieces joined by `&`, each a text, `@FILE` or `@-`; the method is POST if nothing says otherwise.
    ///
    /// As in curl, line breaks of files are left out.
    init(method: String?, data: [String]) throws(CommandError) {
        guard let parsed = Method(method ?? (data.isEmpty ? "GET" : "POST")), parsed != .connect else {
            throw CommandError("-X \(method ?? ""): expected a method, such as PUT")
        }
        self.method = parsed
        for (index, piece) in data.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: "&")) }
            bytes += piece.hasPrefix("@") ? try Self.read(String(piece.dropFirst())) : Array(piece.utf8)
        }
        guard bytes.count <= Self.bytesMax else {
            throw CommandError("-d: the content has more than \(Self.bytesMax) bytes, the limit of fetch")
        }
    }

    private static func read(_ name: String) throws(CommandError) -> [UInt8] {
        let handle = name == "-" ? FileHandle.standardInput : FileHandle(forReadingAtPath: name)
        guard let handle, let data = try? handle.read(upToCount: bytesMax + 1) else {
            throw CommandError("-d @\(name): the file cannot be read")
        }
        return data.filter { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
    }

    /// True if dictionaries may have a part in the request: it asks for a representation, and sends none.
    var mayUseDictionaries: Bool { method == .get && bytes.isEmpty }

    /// Adds the fields of the content to those of a request.
    func add(to headers: inout Headers) {
        guard !bytes.isEmpty || method == .post || method == .put else { return }
        headers.append(.contentLength, UInt64(bytes.count))
        if !bytes.isEmpty { headers.append(.contentType, "application/x-www-form-urlencoded") }
    }

    /// Returns the content for the request after a redirect.
    func redirected(_ rule: (method: String, keepsContent: Bool)) -> FetchContent {
        var next = self
        if let method = Method(rule.method) { next.method = method }
        if !rule.keepsContent { next.bytes = [] }
        return next
    }
}

/// The request of a fetch, which changes from redirect to redirect; pure.
struct FetchTarget: Sendable {
    let url: FetchURL
    let fields: RequestFields
    let content: FetchContent

    /// Returns the request that a response redirects to; nil if it is no redirect.
    ///
    /// Another origin gets no credentials.
    func next(after head: ResponseHead) throws(FetchError) -> FetchTarget? {
        let rule = Redirect.next(status: Int(head.status.rawValue), method: content.method.text)
        guard let rule, let location = head.headers.first(.location) else { return nil }
        guard let next = FetchURL(location, relativeTo: url) else { throw .redirect(location) }
        var dropped: [String] = rule.keepsContent ? [] : Redirect.contentFields
        if next.origin != url.origin { dropped += Redirect.credentialFields }
        return FetchTarget(
            url: next, fields: fields.without(dropped), content: content.redirected(rule))
    }
}
