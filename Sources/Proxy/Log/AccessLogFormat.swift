internal import Dictionaries
internal import HTTP
internal import Primitives

/// Writes a request's record as one line into a reused buffer.
struct AccessLogFormat: Sendable {
    /// The most bytes of a field that a line has; the rest is three dots.
    enum Limit {
        static let method = 64
        static let target = 4_096
        static let host = 256
        static let userAgent = 512
        static let referer = 1_024
    }

    private let form: Configuration.Log.Access.Format
    /// The text of each route's match, already escaped.
    private let routes: [[UInt8]]
    private let redaction: TargetRedaction
    private let clientFields: Configuration.Log.Access.ClientFields

    /// Creates a format that also knows the routes of former configurations.
    init(_ form: Configuration.Log.Access.Format, configuration: Configuration, routes names: RouteNames) {
        self.form = form
        routes = names.texts.map { text in
            var escaped: [UInt8] = []
            escaped.append(escaping: Array(text.utf8), as: form == .json ? .json : .word)
            return escaped
        }
        redaction = TargetRedaction(policy: configuration.personal(on: nil))
        clientFields = configuration.log.access.clientFields
    }

    /// Appends the record's line, with its line feed; `rate` is the share of such requests that have a line, nil for all.
    func append(_ record: RequestRecord, rate: [UInt8]? = nil, to buffer: inout [UInt8]) {
        switch form {
        case .json: appendJSON(record, rate, to: &buffer)
        case .text: appendText(record, rate, to: &buffer)
        case .combined: appendCombined(record, to: &buffer)
        case .vhostCombined:
            buffer.append("", escaping: record.description?.host ?? [UInt8(ascii: "-")], limit: Limit.host)
            buffer.append(" ")
            appendCombined(record, to: &buffer)
        }
        buffer.append(UInt8(ascii: "\n"))
    }

    // MARK: Values

    private func route(of record: RequestRecord) -> [UInt8]? {
        record.routeIndex.flatMap { routes.indices.contains($0) ? routes[$0] : nil }
    }

    /// Returns the target without personal query values, or on a private route without its query.
    private func target(of record: RequestRecord, _ about: RequestDescription) -> [UInt8] {
        record.isPrivate ? redaction.redactQuery(about.target) : redaction.redact(about.target)
    }

    private func showsClient(_ record: RequestRecord) -> Bool {
        switch clientFields {
        case .publicRoutes: !record.isPrivate
        case .all: true
        case .none: false
        }
    }

    private func userAgent(of record: RequestRecord, _ about: RequestDescription) -> [UInt8]? {
        showsClient(record) ? about.userAgent : nil
    }

    /// Returns the referer without its query, which may be one of a private route.
    private func referer(of record: RequestRecord, _ about: RequestDescription) -> [UInt8]? {
        showsClient(record) ? about.referer.map(redaction.redactQuery) : nil
    }

    // MARK: JSON

    private func appendJSON(_ record: RequestRecord, _ rate: [UInt8]?, to buffer: inout [UInt8]) {
        let about = record.description ?? .none
        buffer.append(#"{"time":""#)
        Timestamp.append(record.timeMicroseconds, to: &buffer)
        buffer.append("\"")
        buffer.append(#","client":""#, quoting: about.client)
        buffer.append(#","forwarder":""#, quoting: about.forwarder)
        buffer.append(#","method":""#, quoting: about.method, limit: Limit.method)
        buffer.append(#","target":""#, quoting: target(of: record, about), limit: Limit.target)
        buffer.append(#","host":""#, quoting: about.host, limit: Limit.host)
        buffer.append(#","protocol":""#, record.version?.text, "\"")
        buffer.append(#","status":"#, record.status)
        buffer.append(#","coding":""#, record.coding.rawValue, "\"")
        buffer.append(#","reason":""#, record.reason?.text, "\"")
        buffer.append(#","route":""#, escaped: route(of: record), "\"")
        buffer.append(#","body_bytes":"#, record.bodyBytesBefore)
        buffer.append(#","sent_body_bytes":"#, record.bodyBytesSent)
        buffer.append(#","wire_bytes":"#, record.wireBytesSent)
        buffer.append(#","micros":"#, record.durationMicroseconds)
        buffer.append(#","head_micros":"#, record.status > 0 ? record.headMicroseconds : nil)
        buffer.append(#","upstream_status":"#, record.upstreamStatus)
        buffer.append(#","upstream_micros":"#, record.upstreamMicroseconds)
        buffer.append(#","upstream":""#, quoting: record.upstream?.address)
        buffer.append(#","upstream_name":""#, quoting: record.upstream?.name)
        buffer.append(#","error":""#, quoting: record.fault.map { Array($0.text.utf8) })
        buffer.append(#","revalidation":""#, record.revalidation?.rawValue, "\"")
        buffer.append(#","request_id":""#, quoting: record.requestID)
        buffer.append(#","trace_id":""#, quoting: about.traceID)
        buffer.append(#","user_agent":""#, quoting: userAgent(of: record, about), limit: Limit.userAgent)
        buffer.append(#","referer":""#, quoting: referer(of: record, about), limit: Limit.referer)
        buffer.append(#","sample_rate":"#, escaped: rate)
        buffer.append(record.isComplete ? #","complete":true}"# : #","complete":false}"#)
    }

    // MARK: Text

    private func appendText(_ record: RequestRecord, _ rate: [UInt8]?, to buffer: inout [UInt8]) {
        let about = record.description ?? .none
        Timestamp.append(record.timeMicroseconds, to: &buffer)
        buffer.append(" ", escaping: about.client)
        buffer.append(" ", escaping: about.method, limit: Limit.method)
        buffer.append(" ", escaping: target(of: record, about), limit: Limit.target)
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
        buffer.append(" ", escaped: route(of: record) ?? [UInt8(ascii: "-")])
        buffer.append(" ", escaping: record.requestID)
        buffer.append(" trace=", escaping: about.traceID)
        buffer.append(" via=", escaping: about.forwarder)
        buffer.append(" host=", escaping: about.host, limit: Limit.host)
        if let upstream = record.upstream {
            buffer.append(" to=\"")
            buffer.append("", escaped: upstream.name, " at ")
            buffer.append(escaping: upstream.address, as: .json)
            buffer.append("\"")
        }
        buffer.append(" error=\"", quoting: record.fault.map { Array($0.text.utf8) })
        buffer.append(" agent=\"", quoting: userAgent(of: record, about), limit: Limit.userAgent)
        buffer.append(" referer=\"", quoting: referer(of: record, about), limit: Limit.referer)
        buffer.append(" sample_rate=", escaped: rate)
        if !record.isComplete { buffer.append(" aborted") }
    }

    // MARK: Combined

    /// `CLIENT - - [TIME] "METHOD TARGET PROTOCOL" STATUS BYTES "REFERER" "USER AGENT"`.
    private func appendCombined(_ record: RequestRecord, to buffer: inout [UInt8]) {
        let about = record.description ?? .none
        buffer.append("", escaping: about.client)
        buffer.append(" - - [")
        Timestamp.appendCommon(record.timeMicroseconds, to: &buffer)
        buffer.append("] \"")
        if about.method.isEmpty {
            buffer.append("-")
        } else {
            buffer.append(escaping: about.method, as: .quoted, limit: Limit.method)
            buffer.append(" ")
            buffer.append(escaping: target(of: record, about), as: .quoted, limit: Limit.target)
            buffer.append(" ")
            buffer.append(record.version?.text ?? "-")
        }
        // nginx has 499 for clients that left before a response; parsers want a status.
        buffer.append("\" ", record.status > 0 ? record.status : 499)
        buffer.append(" ", record.bodyBytesSent)
        let fields = [
            (referer(of: record, about), Limit.referer), (userAgent(of: record, about), Limit.userAgent),
        ]
        for (value, limit) in fields {
            buffer.append(" \"")
            buffer.append(escaping: value ?? [], as: .quoted, limit: limit)
            buffer.append("\"")
        }
    }
}

/// Each appends a field that begins with `opening`; nothing if its value is nil.
extension [UInt8] {
    fileprivate mutating func append(_ opening: StaticString, _ number: Int?) {
        guard let number else { return }
        append(opening)
        append(decimal: UInt64(clamping: number))
    }

    fileprivate mutating func append(_ opening: StaticString, _ word: String?, _ end: StaticString = "") {
        guard let word else { return }
        append(opening)
        append(contentsOf: word.utf8)
        append(end)
    }

    fileprivate mutating func append(_ opening: StaticString, _ word: StaticString?, _ end: StaticString) {
        guard let word else { return }
        append(opening)
        append(word)
        append(end)
    }

    fileprivate mutating func append(
        _ opening: StaticString, escaped text: [UInt8]?, _ end: StaticString = ""
    ) {
        guard let text else { return }
        append(opening)
        append(contentsOf: text)
        append(end)
    }

    fileprivate mutating func append(_ opening: StaticString, escaping text: [UInt8]?, limit: Int = .max) {
        guard let text else { return }
        append(opening)
        append(escaping: text, as: .word, limit: limit)
    }

    /// Appends a text that is escaped as in JSON, and the quotation mark behind it.
    fileprivate mutating func append(_ opening: StaticString, quoting text: [UInt8]?, limit: Int = .max) {
        guard let text else { return }
        append(opening)
        append(escaping: text, as: .json, limit: limit)
        append("\"")
    }
}

/// Removes the values of personal query parameters from logged request targets.
struct TargetRedaction: Sendable {
    let policy: PersonalPolicy

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
