internal import Dictionaries

/// Writes a request's record as one line, JSON or text, into a buffer that is used again.
package struct AccessLogFormat: Sendable {
    private let isJSON: Bool
    private let routes: [[UInt8]]
    private let redaction: TargetRedaction

    /// A format for the routes and personal query names of a configuration.
    package init(isJSON: Bool, configuration: Configuration) {
        self.isJSON = isJSON
        routes = configuration.routes.map { Array($0.text.utf8) }
        redaction = TargetRedaction(configuration.personal(on: nil))
    }

    /// Appends the record's line with its line feed.
    package func append(_ record: RequestRecord, to buffer: inout [UInt8]) {
        if isJSON { appendJSON(record, to: &buffer) } else { appendText(record, to: &buffer) }
    }

    private func route(of record: RequestRecord) -> [UInt8]? {
        record.routeIndex.flatMap { routes.indices.contains($0) ? routes[$0] : nil }
    }

    // MARK: JSON

    private func appendJSON(_ record: RequestRecord, to buffer: inout [UInt8]) {
        buffer.append(contentsOf: #"{"time":""#.utf8)
        Timestamp.append(record.timeMicroseconds, to: &buffer)
        buffer.append(UInt8(ascii: "\""))
        Self.member("client", record.client, to: &buffer)
        Self.member("method", record.method, to: &buffer)
        Self.member("target", redaction.redact(record.target), to: &buffer)
        Self.member("status", record.status, to: &buffer)
        Self.member("coding", Array(record.coding.rawValue.utf8), to: &buffer)
        Self.member("reason", record.reason.map { Array($0.rawValue.utf8) }, to: &buffer)
        Self.member("route", route(of: record), to: &buffer)
        Self.member("body_bytes", record.bodyBytesBefore, to: &buffer)
        Self.member("sent_body_bytes", record.bodyBytesSent, to: &buffer)
        Self.member("wire_bytes", record.wireBytesSent, to: &buffer)
        Self.member("micros", record.durationMicroseconds, to: &buffer)
        Self.member("upstream_micros", record.upstreamMicroseconds, to: &buffer)
        Self.member("upstream_status", record.upstreamStatus, to: &buffer)
        Self.member("request_id", record.requestID, to: &buffer)
        buffer.append(contentsOf: (record.isComplete ? #","complete":true}"# : #","complete":false}"#).utf8)
        buffer.append(UInt8(ascii: "\n"))
    }

    private static func member(_ name: StaticString, _ value: [UInt8]?, to buffer: inout [UInt8]) {
        guard let value else { return }
        key(name, to: &buffer)
        buffer.append(UInt8(ascii: "\""))
        for byte in value {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                buffer.append(UInt8(ascii: "\\"))
                buffer.append(byte)
            case 0x20...0x7E: buffer.append(byte)
            default:
                // A byte that is no printable ASCII, whatever its encoding, is the character of that number.
                buffer.append(contentsOf: #"\u00"#.utf8)
                hexadecimal(byte, to: &buffer)
            }
        }
        buffer.append(UInt8(ascii: "\""))
    }

    private static func member(_ name: StaticString, _ value: Int?, to buffer: inout [UInt8]) {
        guard let value else { return }
        key(name, to: &buffer)
        buffer.append(contentsOf: String(value).utf8)
    }

    private static func key(_ name: StaticString, to buffer: inout [UInt8]) {
        buffer.append(contentsOf: #",""#.utf8)
        // Safe: the string is static, so its bytes outlive the call, and has no character to escape.
        unsafe buffer.append(
            contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        buffer.append(contentsOf: #"":"#.utf8)
    }

    // MARK: Text

    private func appendText(_ record: RequestRecord, to buffer: inout [UInt8]) {
        Timestamp.append(record.timeMicroseconds, to: &buffer)
        Self.words([record.client, record.method, redaction.redact(record.target)], to: &buffer)
        let reason = record.reason?.rawValue ?? "-"
        let outcome = " \(record.status) \(record.coding.rawValue) \(reason)"
        let sizes = " \(record.bodyBytesBefore)->\(record.bodyBytesSent) wire=\(record.wireBytesSent)"
        buffer.append(contentsOf: (outcome + sizes + " \(record.durationMicroseconds)us").utf8)
        if let status = record.upstreamStatus {
            buffer.append(contentsOf: " upstream=\(status)/\(record.upstreamMicroseconds ?? 0)us".utf8)
        }
        Self.words([route(of: record) ?? []], to: &buffer)
        if let id = record.requestID { Self.words([id], to: &buffer) }
        if !record.isComplete { buffer.append(contentsOf: " aborted".utf8) }
        buffer.append(UInt8(ascii: "\n"))
    }

    /// Appends words with a space before each; what could end a word or a line, or steer a terminal, is written `\xNN`.
    private static func words(_ words: [[UInt8]], to buffer: inout [UInt8]) {
        for word in words {
            buffer.append(UInt8(ascii: " "))
            if word.isEmpty { buffer.append(UInt8(ascii: "-")) }
            for byte in word {
                if (0x21...0x7E).contains(byte), byte != UInt8(ascii: "\\") {
                    buffer.append(byte)
                } else {
                    buffer.append(contentsOf: #"\x"#.utf8)
                    hexadecimal(byte, to: &buffer)
                }
            }
        }
    }

    private static func hexadecimal(_ byte: UInt8, to buffer: inout [UInt8]) {
        for digit in [byte >> 4, byte & 15] {
            buffer.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }
}
