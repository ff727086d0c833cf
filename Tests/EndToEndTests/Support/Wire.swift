internal import TestSupport

/// Bytes of answers as they go on the wire.
enum Wire {
    /// An answer of status 200 with these field lines; its length and the end of the connection are added.
    static func ok(_ fields: String..., body: [UInt8]) -> [UInt8] { answer("200 OK", fields, body: body) }

    /// An answer; nothing is added but its length and the end of the connection.
    static func answer(_ status: String, _ fields: [String] = [], body: [UInt8] = []) -> [UInt8] {
        let isBodiless = status.hasPrefix("304") || status.hasPrefix("204")
        let lines = fields + (isBodiless ? [] : ["Content-Length: \(body.count)"]) + ["Connection: close"]
        return Array("HTTP/1.1 \(status)\r\n\(lines.joined(separator: "\r\n"))\r\n\r\n".utf8) + body
    }
}

/// Returns a 200 with a JSON body that any cache may keep for a minute, with these field lines.
func storable(_ body: [UInt8], _ fields: String...) -> [UInt8] {
    let lines = ["HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: public, max-age=60"]
    return wire((lines + fields).joined(separator: "\r\n"), body: body)
}
