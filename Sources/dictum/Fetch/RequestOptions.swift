internal import ArgumentParser
internal import Dictionaries
internal import HTTP
internal import Primitives

/// The options of `fetch` and `doctor` about the request, similar to curl's.
struct RequestOptions: ParsableArguments {
    @Option(
        name: .customShort("H"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Send a request field, such as -H 'Authorization: Bearer x'; repeatable.",
            valueName: "field"))
    var header: [String] = []

    @Option(help: ArgumentHelp("Send cookies, such as --cookie 'sid=x; theme=dark'.", valueName: "cookies"))
    var cookie: String?

    @Option(
        help: ArgumentHelp("Also trust the certificate authorities in this file (PEM).", valueName: "file"))
    var ca: String?

    @Flag var version: VersionChoice?

    func validate() throws {
        _ = try fields()
    }

    /// Returns the versions of HTTP from which the server of a URL may choose; content goes by HTTP/1.1, if there is any.
    ///
    /// The default is that of curl and of browsers: over TLS the server chooses, which costs nothing. Without TLS it is
    /// HTTP/1.1, because only a server that is known to speak HTTP/2 understands its first bytes.
    func protocols(
        for url: FetchURL, sending content: FetchContent = FetchContent()
    ) throws(FetchError) -> HTTPProtocols {
        let hasContent = !content.bytes.isEmpty
        return switch version {
        case nil: url.isTLS && !hasContent ? .all : .http1
        case .http11: .http1
        case .http2 where !url.isTLS: throw .http2WithoutTLS(url.text)
        case .http2, .http2PriorKnowledge: if hasContent { throw .http2WithContent } else { .http2 }
        }
    }

    func fields() throws -> RequestFields { try RequestFields(header, cookie: cookie) }
}

/// The options for the method and the content of a request, as curl names them.
struct ContentOptions: ParsableArguments {
    @Option(
        name: [.customShort("X"), .customLong("request")], parsing: .unconditional,
        help: ArgumentHelp("The method (default: GET, or POST with -d)", valueName: "method"))
    var method: String?

    @Option(
        name: [.customShort("d"), .customLong("data")],
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Send this content, over HTTP/1.1; @FILE reads a file without its line breaks and NULs, @- standard input; repeatable, joined by &.",
            valueName: "data"))
    var data: [String] = []

    func content() throws(FetchError) -> FetchContent { try FetchContent(method: method, data: data) }
}

extension FetchDeadline {
    static func check(maxTime: Int) throws(ValidationError) {
        guard 1...86_400 ~= maxTime else { throw ValidationError("--max-time: expected 1 to 86400 seconds") }
    }
}

/// The version of HTTP that the user wants, as curl names it.
enum VersionChoice: String, EnumerableFlag {
    case http11 = "http1.1"
    case http2
    case http2PriorKnowledge = "http2-prior-knowledge"

    static func name(for value: VersionChoice) -> NameSpecification { .customLong(value.rawValue) }

    static func help(for value: VersionChoice) -> ArgumentHelp? {
        switch value {
        case .http11:
            "Use HTTP/1.1. Default: for https the server chooses HTTP/2 or HTTP/1.1; for http, HTTP/1.1."
        case .http2: "Use HTTP/2, for an https URL; fail if the server does not choose it (ALPN)."
        case .http2PriorKnowledge: "Use HTTP/2, for an http URL without asking (h2c)."
        }
    }
}

struct RequestFields: Sendable {
    private(set) var fields: [(name: HeaderName, value: String)] = []

    /// The fields of message framing and those that `--accept` and the cache control.
    private static let taken: [HeaderName] = [
        .connection, .contentLength, .transferEncoding, .te, .trailer, .upgrade, .expect, .keepAlive,
        .acceptEncoding, .availableDictionary, .dictionaryID,
    ]

    init() {}

    /// Parses texts of the form `Name: value`; throws for those that are none, and for fields that the user may not set.
    init(_ texts: [String], cookie: String?) throws(ValidationError) {
        for text in texts {
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count == 2 ? parts[1].trimmed : ""
            guard parts.count == 2, let name = HeaderName(String(parts[0])), Self.isValue(value) else {
                throw ValidationError("-H \(text.debugDescription): expected 'Name: value'")
            }
            guard !Self.taken.contains(name) else {
                throw ValidationError("-H \(text.debugDescription): this field is set by dictum itself")
            }
            fields.append((name, value))
        }
        guard let cookie else { return }
        guard Self.isValue(cookie), !cookie.isEmpty else {
            throw ValidationError("--cookie: expected 'NAME=VALUE; NAME=VALUE'")
        }
        fields.append((.cookie, cookie))
    }

    /// The credentials that `serve` knows as such.
    var knownCredentials: RequestCredentials {
        RequestCredentials(fields.map { ($0.name.text, $0.value) })
    }

    /// The fields that may be credentials as one text; nil without any.
    ///
    /// Requests with other ones may be those of another user.
    var credentials: String? {
        let lines = fields.filter { !NeutralFields.have($0.name.text) }
        return lines.isEmpty
            ? nil : lines.map { "\($0.name.text): \($0.value)" }.sorted().joined(separator: "\n")
    }

    var names: [String] { fields.map(\.name.text) }

    func has(_ name: String) -> Bool {
        HeaderName(name).map { name in fields.contains { $0.name == name } } == true
    }

    /// Returns the fields whose names the condition accepts.
    func only(_ isWanted: (String) -> Bool) -> RequestFields {
        var rest = self
        rest.fields.removeAll { !isWanted($0.name.text) }
        return rest
    }

    /// Adds the fields to a request; each replaces the program's own fields of its name.
    func add(to headers: inout Headers) {
        for (name, _) in fields { headers.remove(name) }
        for (name, value) in fields { headers.append(name, value) }
    }

    /// RFC 9110 section 5.5: a value contains no control characters except tabs.
    private static func isValue(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 == 9 || 0x20...0x7E ~= $0 || $0 >= 0x80 }
    }
}

/// The codings that a fetch accepts, in the form of `--accept`: `dcz,dcb,zstd,br,gzip`.
struct CodingList: ExpressibleByArgument, Sendable {
    /// All codings that we read, best first.
    static let all = CodingList(codings: ContentCoding.preferred)

    /// The codings, each once.
    let codings: [ContentCoding]

    init(codings: [ContentCoding]) {
        self.codings = codings
    }

    init?(argument: String) {
        var codings: [ContentCoding] = []
        for word in argument.split(separator: ",", omittingEmptySubsequences: false) {
            let name = word.lowercased().filter { $0 != " " }
            guard let coding = ContentCoding(rawValue: name) else { return nil }
            if !codings.contains(coding) { codings.append(coding) }
        }
        self.init(codings: codings)
    }

    var defaultValueDescription: String { codings.map(\.token).joined(separator: ",") }

    /// True if a dictionary is useful.
    var usesDictionaries: Bool { codings.contains { $0.usesDictionary } }

    /// Returns the field value; dcb and dcz appear only if a dictionary is offered (RFC 9842 section 6.1).
    func acceptEncoding(withDictionary: Bool) -> String {
        let sent = codings.filter { withDictionary || !$0.usesDictionary }
        return sent.isEmpty ? "identity" : sent.map(\.token).joined(separator: ", ")
    }
}
