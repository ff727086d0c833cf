internal import Dictionaries
internal import HTTP

/// Writes a request's record as one line of JSON or text into a reused buffer.
struct AccessLogFormat: Sendable {
    private let isJSON: Bool
    /// The text of each route's match, already escaped.
    private let routes: [[UInt8]]
    private let redaction: TargetRedaction

    /// Creates a format for the routes and personal query names of a configuration.
    init(isJSON: Bool, configuration: Configuration) {
        self.init(isJSON: isJSON, configuration: configuration, routes: RouteNames(configuration))
    }

    /// Creates a format that also knows the routes of former configurations.
    init(isJSON: Bool, configuration: Configuration, routes names: RouteNames) {
        self.isJSON = isJSON
        routes = names.texts.map { text in
            var escaped: [UInt8] = []
            escaped.append(escaping: Array(text.utf8), asJSON: isJSON)
            return escaped
        }
        redaction = TargetRedaction(configuration.personal(on: nil))
    }

    /// Appends the record's line, with its line feed.
    func append(_ record: RequestRecord, to buffer: inout [UInt8]) {
        if isJSON { appendJSON(record, to: &buffer) } else { appendText(record, to: &buffer) }
        buffer.append(UInt8(ascii: "\n"))
    }

    private func route(of record: RequestRecord) -> [UInt8]? {
        record.routeIndex.flatMap { routes.indices.contains($0) ? routes[$0] : nil }
    }

    /// Returns the target without personal query values, or on a private route without its query.
    private func target(of record: RequestRecord) -> [UInt8] {
        record.isPrivate ? redaction.redactQuery(record.target) : redaction.redact(record.target)
    }

    private func appendJSON(_ record: RequestRecord, to buffer: inout [UInt8]) {
        buffer.append(#"{"time":""#)
        Timestamp.append(record.timeMicroseconds, to: &buffer)
        buffer.append("\"")
        buffer.append(#","client":""#, quoting: record.client)
        buffer.append(#","forwarder":""#, quoting: record.forwarder)
        buffer.append(#","method":""#, quoting: record.method)
        buffer.append(#","target":""#, quoting: target(of: record))
        if let version = record.version {
            buffer.append(#","protocol":""#)
            buffer.append(version.text)
            buffer.append("\"")
        }
        buffer.append(#","status":"#, record.status)
        buffer.append(#","coding":""#, record.coding.rawValue, "\"")
        buffer.append(#","reason":""#, record.reason?.text, "\"")
        if let route = route(of: record) {
            buffer.append(#","route":""#)
            buffer.append(contentsOf: route)
            buffer.append("\"")
        }
        buffer.append(#","body_bytes":"#, record.bodyBytesBefore)
        buffer.append(#","sent_body_bytes":"#, record.bodyBytesSent)
        buffer.append(#","wire_bytes":"#, record.wireBytesSent)
        buffer.append(#","micros":"#, record.durationMicroseconds)
        buffer.append(#","upstream_status":"#, record.upstreamStatus)
        buffer.append(#","upstream_micros":"#, record.upstreamMicroseconds)
        buffer.append(#","upstream":""#, quoting: record.upstream?.address)
        buffer.append(#","upstream_name":""#, quoting: record.upstream?.name)
        buffer.append(#","error":""#, quoting: record.error)
        buffer.append(#","revalidation":""#, record.revalidation?.rawValue, "\"")
        buffer.append(#","request_id":""#, quoting: record.requestID)
        buffer.append(#","trace_id":""#, quoting: record.traceID)
        buffer.append(record.isComplete ? #","complete":true}"# : #","complete":false}"#)
    }

    private func appendText(_ record: RequestRecord, to buffer: inout [UInt8]) {
        Timestamp.append(record.timeMicroseconds, to: &buffer)
        for word in [record.client, record.method, target(of: record)] { buffer.append(" ", escaping: word) }
        buffer.append(" ")
        buffer.append(record.version?.text ?? "-")
        buffer.append(" ", record.status)
        buffer.append(" ", record.coding.rawValue)
        buffer.append(" ", record.reason?.text ?? "-")
        buffer.append(" ", record.bodyBytesBefore)
        buffer.append("->", record.bodyBytesSent)
        buffer.append(" wire=", record.wireBytesSent)
        buffer.append(" ", record.durationMicroseconds)
        buffer.append("us")
        if let status = record.upstreamStatus {
            buffer.append(" upstream=", status)
            buffer.append("/", record.upstreamMicroseconds ?? 0)
            buffer.append("us")
        }
        buffer.append(" revalidation=", record.revalidation?.rawValue)
        buffer.append(" ")
        buffer.append(contentsOf: route(of: record) ?? [UInt8(ascii: "-")])
        buffer.append(" ", escaping: record.requestID)
        buffer.append(" trace=", escaping: record.traceID)
        buffer.append(" via=", escaping: record.forwarder)
        if let upstream = record.upstream {
            buffer.append(" to=\"")
            if let name = record.upstream?.name {
                buffer.append(contentsOf: name)
                buffer.append(" at ")
            }
            buffer.append(escaping: upstream.address, asJSON: true)
            buffer.append("\"")
        }
        buffer.append(" error=\"", quoting: record.error)
        if !record.isComplete { buffer.append(" aborted") }
    }
}

/// Each appends a field that begins with `opening`; nothing if its value is nil.
extension [UInt8] {
    fileprivate mutating func append(_ opening: StaticString, _ number: Int?) {
        guard let number else { return }
        append(opening)
        append(decimal: number)
    }

    /// Appends a word that needs no escaping.
    fileprivate mutating func append(_ opening: StaticString, _ word: String?, _ end: StaticString = "") {
        guard let word else { return }
        append(opening)
        append(contentsOf: word.utf8)
        append(end)
    }

    fileprivate mutating func append(_ opening: StaticString, escaping text: [UInt8]?) {
        guard let text else { return }
        append(opening)
        append(escaping: text, asJSON: false)
    }

    /// Appends a text that is escaped as in JSON, and the quotation mark behind it.
    fileprivate mutating func append(_ opening: StaticString, quoting text: [UInt8]?) {
        guard let text else { return }
        append(opening)
        append(escaping: text, asJSON: true)
        append("\"")
    }
}

/// Removes the values of personal query parameters from logged request targets.
struct TargetRedaction: Sendable {
    private let policy: PersonalPolicy

    init(_ policy: PersonalPolicy) {
        self.policy = policy
    }

    /// Returns the target with `-` for each personal value: `/a?token=s3cret&b=1` becomes `/a?token=-&b=1`.
    func redact(_ target: [UInt8]) -> [UInt8] {
        guard let mark = target.firstIndex(of: UInt8(ascii: "?")) else { return target }
        let query = target[(mark + 1)...]
        guard isPersonal(query) else { return target }
        let parameters = query.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        return Array(target[...mark]) + parameters.map(redact).joined(separator: [UInt8(ascii: "&")])
    }

    /// Returns the target with `-` for its query: `/a?b=1` becomes `/a?-`.
    func redactQuery(_ target: [UInt8]) -> [UInt8] {
        guard let mark = target.firstIndex(of: UInt8(ascii: "?")) else { return target }
        return target[...mark] + [UInt8(ascii: "-")]
    }

    /// Returns the parameter up to its first personal name.
    ///
    /// The rest is dropped: where `;` is no separator, it belongs to the value.
    private func redact(_ parameter: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var start = parameter.startIndex
        for piece in parameter.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false) {
            start = piece.startIndex
            guard isPersonal(piece) else { continue }
            let name = piece.prefix { $0 != UInt8(ascii: "=") }
            return parameter[..<start] + name
                + (name.count < piece.count ? [UInt8(ascii: "="), UInt8(ascii: "-")] : [])
        }
        return parameter
    }

    private func isPersonal(_ query: ArraySlice<UInt8>) -> Bool {
        policy.hasPersonalQuery(String(decoding: query, as: UTF8.self))
    }
}
