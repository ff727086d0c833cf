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
        buffer.append(#"","client":""#)
        buffer.append(escaping: record.client, asJSON: true)
        if let forwarder = record.forwarder {
            buffer.append(#"","forwarder":""#)
            buffer.append(escaping: forwarder, asJSON: true)
        }
        buffer.append(#"","method":""#)
        buffer.append(escaping: record.method, asJSON: true)
        buffer.append(#"","target":""#)
        buffer.append(escaping: target(of: record), asJSON: true)
        if let version = record.version {
            buffer.append(#"","protocol":""#)
            buffer.append(version.text)
        }
        buffer.append(#"","status":"#)
        buffer.append(decimal: record.status)
        buffer.append(#","coding":""#)
        buffer.append(contentsOf: record.coding.rawValue.utf8)
        if let reason = record.reason {
            buffer.append(#"","reason":""#)
            buffer.append(contentsOf: reason.text.utf8)
        }
        if let route = route(of: record) {
            buffer.append(#"","route":""#)
            buffer.append(contentsOf: route)
        }
        buffer.append(#"","body_bytes":"#)
        buffer.append(decimal: record.bodyBytesBefore)
        buffer.append(#","sent_body_bytes":"#)
        buffer.append(decimal: record.bodyBytesSent)
        buffer.append(#","wire_bytes":"#)
        buffer.append(decimal: record.wireBytesSent)
        buffer.append(#","micros":"#)
        buffer.append(decimal: record.durationMicroseconds)
        if let status = record.upstreamStatus {
            buffer.append(#","upstream_status":"#)
            buffer.append(decimal: status)
        }
        if let micros = record.upstreamMicroseconds {
            buffer.append(#","upstream_micros":"#)
            buffer.append(decimal: micros)
        }
        if let upstream = record.upstream {
            buffer.append(#","upstream":""#)
            buffer.append(escaping: upstream, asJSON: true)
            buffer.append(#"""#)
        }
        if let name = record.upstreamName {
            buffer.append(#","upstream_name":""#)
            buffer.append(contentsOf: name)
            buffer.append(#"""#)
        }
        if let error = record.error {
            buffer.append(#","error":""#)
            buffer.append(escaping: error, asJSON: true)
            buffer.append(#"""#)
        }
        if let result = record.revalidation {
            buffer.append(#","revalidation":""#)
            buffer.append(contentsOf: result.rawValue.utf8)
            buffer.append(#"""#)
        }
        if let id = record.requestID {
            buffer.append(#","request_id":""#)
            buffer.append(escaping: id, asJSON: true)
            buffer.append(#"""#)
        }
        if let id = record.traceID {
            buffer.append(#","trace_id":""#)
            buffer.append(escaping: id, asJSON: true)
            buffer.append(#"""#)
        }
        buffer.append(record.isComplete ? #","complete":true}"# : #","complete":false}"#)
    }

    private func appendText(_ record: RequestRecord, to buffer: inout [UInt8]) {
        Timestamp.append(record.timeMicroseconds, to: &buffer)
        for word in [record.client, record.method, target(of: record)] {
            buffer.append(" ")
            buffer.append(escaping: word, asJSON: false)
        }
        if let version = record.version {
            buffer.append(" ")
            buffer.append(version.text)
        } else {
            buffer.append(" -")
        }
        buffer.append(" ")
        buffer.append(decimal: record.status)
        buffer.append(" ")
        buffer.append(contentsOf: record.coding.rawValue.utf8)
        buffer.append(" ")
        buffer.append(contentsOf: (record.reason?.text ?? "-").utf8)
        buffer.append(" ")
        buffer.append(decimal: record.bodyBytesBefore)
        buffer.append("->")
        buffer.append(decimal: record.bodyBytesSent)
        buffer.append(" wire=")
        buffer.append(decimal: record.wireBytesSent)
        buffer.append(" ")
        buffer.append(decimal: record.durationMicroseconds)
        buffer.append("us")
        if let status = record.upstreamStatus {
            buffer.append(" upstream=")
            buffer.append(decimal: status)
            buffer.append("/")
            buffer.append(decimal: record.upstreamMicroseconds ?? 0)
            buffer.append("us")
        }
        if let result = record.revalidation {
            buffer.append(" revalidation=")
            buffer.append(contentsOf: result.rawValue.utf8)
        }
        buffer.append(" ")
        buffer.append(contentsOf: route(of: record) ?? [UInt8(ascii: "-")])
        if let id = record.requestID {
            buffer.append(" ")
            buffer.append(escaping: id, asJSON: false)
        }
        if let id = record.traceID {
            buffer.append(" trace=")
            buffer.append(escaping: id, asJSON: false)
        }
        if let forwarder = record.forwarder {
            buffer.append(" via=")
            buffer.append(escaping: forwarder, asJSON: false)
        }
        if let upstream = record.upstream {
            buffer.append(" to=\"")
            if let name = record.upstreamName {
                buffer.append(contentsOf: name)
                buffer.append(" at ")
            }
            buffer.append(escaping: upstream, asJSON: true)
            buffer.append("\"")
        }
        if let error = record.error {
            buffer.append(" error=\"")
            buffer.append(escaping: error, asJSON: true)
            buffer.append("\"")
        }
        if !record.isComplete { buffer.append(" aborted") }
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
