internal import Dictionaries
internal import Foundation
internal import HTTP

/// The file that browsers write with "Save all as HAR": the requests and responses of pages (HTTP Archive 1.2).
struct HTTPArchive: Decodable {
    static let bytesMax = 256 << 20
    static let entriesMax = 20_000

    struct Log: Decodable { let entries: [Entry] }
    struct Entry: Decodable {
        let startedDateTime: String
        let request: Request
        let response: Response
    }
    struct Request: Decodable {
        let method: String
        let url: String
        let headers: [Field]?
        let postData: Content?
    }
    struct Response: Decodable {
        let status: Int
        let headers: [Field]?
        let content: Content?
        let bodySize: Int?
    }
    struct Content: Decodable {
        let text: String?
        let encoding: String?
        let mimeType: String?
    }
    struct Field: Decodable {
        let name: String
        let value: String
    }

    let log: Log

    /// Reads a file of bounded size.
    init(file: String) throws(CommandError) {
        let data = try InputFile.read(
            file, max: Self.bytesMax,
            advice: ": record fewer requests, or filter by Fetch/XHR before you save")
        do {
            self = try JSONDecoder().decode(HTTPArchive.self, from: data)
        } catch {
            throw CommandError(
                "\(file) is not a HAR file (\(Self.place(of: error))): in the browser's developer tools, choose Network, "
                    + "then \"Save all as HAR with content\"")
        }
        guard log.entries.count <= Self.entriesMax else {
            throw CommandError(
                "\(file) has \(log.entries.count) entries, the limit is \(Self.entriesMax): filter by Fetch/XHR before you save"
            )
        }
    }

    private static func place(of error: any Error) -> String {
        switch error as? DecodingError {
        case .keyNotFound(let key, _)?: "it has no \"\(key.stringValue)\""
        case .typeMismatch(_, let context)? where context.codingPath.isEmpty: "it is JSON, but no object"
        case .typeMismatch(_, let context)?, .valueNotFound(_, let context)?:
            "unexpected value at \(context.codingPath.map(\.stringValue).joined(separator: "."))"
        default: "it is not JSON"
        }
    }

    /// Adds the responses to GET, QUERY and POST in the order of their time, each operation of a URL by itself.
    func read(into collection: inout HistoryCollection) throws(CommandError) {
        let dated = log.entries.compactMap { entry in Self.seconds(entry.startedDateTime).map { ($0, entry) }
        }
        .sorted { $0.0 < $1.0 }
        let undated = log.entries.count - dated.count
        if undated > 0 {
            let text = log.entries.lazy.map(\.startedDateTime).first { Self.seconds($0) == nil } ?? ""
            let what =
                "\(undated) of \(log.entries.count) entries have a startedDateTime without date, time or zone (ISO 8601)"
            let warning = "\(what), such as \(OutputFormat.plain(String(text.prefix(60)).debugDescription))"
            guard !dated.isEmpty else { throw CommandError("the HAR file has no times: \(warning)") }
            collection.warn("\(warning): they are left out")
        }
        let start = dated.first?.0 ?? 0
        var hasBodies = false
        for (seconds, entry) in dated where ["GET", "QUERY", "POST"].contains(entry.request.method) {
            guard let url = try? FetchURL(entry.request.url) else { continue }
            guard let response = Self.response(entry, seconds, since: start) else { continue }
            hasBodies = true
            let operation = Self.operation(entry.request)
            let name = Self.name(of: url, entry.request.method, operation)
            collection.add(response, to: name) {
                var history = ResourceHistory(url: url, name: name)
                history.method = entry.request.method
                history.operationKey = operation?.members.map(\.name) ?? []
                history.mediaType = entry.response.content?.mimeType
                return history
            }
        }
        guard hasBodies else {
            throw CommandError(
                "the HAR file has no bodies of responses to GET, QUERY or POST with status 200: save it \"with content\"; Firefox drops large "
                    + "bodies above devtools.netmonitor.responseBodyLimit")
        }
    }

    private static func response(
        _ entry: Entry, _ seconds: Double, since start: Double
    ) -> ResourceHistory.Response? {
        guard entry.response.status == 200, let body = entry.response.content.flatMap(bytes), !body.isEmpty
        else { return nil }
        // It is what the file says; the sum of such numbers must be one.
        let sent = entry.response.bodySize.flatMap { 1...HistoryCollection.bodyBytesMax ~= $0 ? $0 : nil }
        return ResourceHistory.Response(
            seconds: seconds - start, body: Body(body),
            headers: headers(entry.response.headers ?? [], isGet: entry.request.method == "GET"),
            receivedAt: Int64(seconds), sentBytes: sent,
            credentials: RequestCredentials((entry.request.headers ?? []).map { ($0.name, $0.value) }))
    }

    /// Returns the body as the file has it; nil without one.
    static func bytes(_ content: Content) -> [UInt8]? {
        guard let text = content.text else { return nil }
        guard content.encoding?.lowercased() == "base64" else { return Array(text.utf8) }
        return Data(base64Encoded: text, options: .ignoreUnknownCharacters).map { [UInt8]($0) }
    }

    /// The members that name operations in GraphQL and in JSON-RPC.
    private static let key = OperationKey([
        "operationName", "extensions.persistedQuery.sha256Hash", "method",
    ])

    /// Returns the operation that the content of a request names, as `serve` reads it.
    private static func operation(_ request: Request) -> RequestOperation? {
        guard request.method != "GET", let content = request.postData.flatMap(bytes) else { return nil }
        return RequestOperation(key, JSONMembers.values(of: key.paths, in: content))
    }

    private static func name(of url: FetchURL, _ method: String, _ operation: RequestOperation?) -> String {
        guard method != "GET" else { return url.text }
        let values = operation?.members.map(\.value).joined(separator: ", ")
        return "\(method) \(url.text)" + (values.map { " (\($0))" } ?? "")
    }

    private static func headers(_ fields: [Field], isGet: Bool) -> Headers {
        var headers = Headers()
        for field in fields.prefix(200) {
            // Chromium writes the lines of a repeated field as one value with line feeds.
            for value in field.value.split(separator: "\n") {
                // No heuristic gives a response to QUERY or POST a lifetime.
                if let name = HeaderName(field.name), isGet || name != .lastModified {
                    headers.append(name, String(value))
                }
            }
        }
        return headers
    }

    private static func seconds(_ text: String) -> Double? {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        return ((try? style.parse(text)) ?? (try? Date.ISO8601FormatStyle().parse(text)))?
            .timeIntervalSince1970
    }
}
