/// A request or response as it came over the wire.
package struct WireMessage: Sendable {
    /// The head as it came, with its empty line.
    package let head: String
    /// The request line or status line.
    package var startLine: String
    /// The fields in their order.
    package var fields: [(name: String, value: String)] = []
    /// The body without its framing.
    package var body: [UInt8] = []
    /// The lines of the trailer section.
    package var trailers: [String] = []
    /// Whether the body ended as its framing says, rather than with the connection.
    package var isWhole = false

    /// Reads a head, its empty line included.
    package init(head: String) {
        self.head = head
        var lines = head.split(separator: "\r\n")
        startLine = lines.isEmpty ? "" : String(lines.removeFirst())
        for line in lines {
            let name = line.prefix { $0 != ":" }
            let value = line.dropFirst(name.count + 1)
            fields.append((String(name), String(value.drop { $0 == " " })))
        }
    }

    /// The status of a response; 0 if there is none.
    package var status: Int {
        startLine.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    }

    /// The method of a request.
    package var method: String { startLine.split(separator: " ").first.map { String($0) } ?? "" }

    /// The target of a request.
    package var target: String { startLine.split(separator: " ").dropFirst().first.map { String($0) } ?? "" }

    /// The values of a field, joined as RFC 9110 section 5.3 says; nil if it is not there.
    package subscript(name: String) -> String? {
        let values = values(name)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// The values of a field, one a line.
    package func values(_ name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    /// The members of a list field, in lower case and sorted.
    package func members(_ name: String) -> [String] {
        (self[name] ?? "").split(separator: ",").map { $0.filter { $0 != " " }.lowercased() }.sorted()
    }

    /// The body as text.
    package var text: String { String(decoding: body, as: UTF8.self) }

    var isChunked: Bool { self["Transfer-Encoding"]?.lowercased() == "chunked" }
    /// The Content-Length.
    package var length: Int? { self["Content-Length"].flatMap { Int($0) } }
}

/// A message in wire bytes: the lines of its head, a Content-Length that fits (unless the head has its framing), the body.
package func wire(_ lines: String..., body: [UInt8]? = nil) -> [UInt8] {
    var head = lines.joined(separator: "\r\n") + "\r\n"
    if let body, !head.lowercased().contains("transfer-encoding:") {
        head += "Content-Length: \(body.count)\r\n"
    }
    return Array((head + "\r\n").utf8) + (body ?? [])
}

/// One chunk in wire bytes (RFC 9112 section 7.1); an empty one is the last.
package func chunk(_ bytes: [UInt8]) -> [UInt8] {
    Array((String(bytes.count, radix: 16) + "\r\n").utf8) + bytes + Array("\r\n".utf8)
}

extension WireMessage: CustomStringConvertible {
    /// The head on one line, and the size of the body.
    package var description: String {
        let head = fields.map { "\($0.name): \($0.value)" }.joined(separator: " | ")
        return "\(startLine) | \(head) | \(body.count) bytes\(isWhole ? "" : ", cut off")"
    }
}
