internal import Dictionaries
internal import Storage
internal import TestSupport

extension WireSocket {
    /// The answer to a GET; its body as it is on the wire.
    func get(_ target: String, _ fields: String..., host: String = "api.test") throws -> WireMessage {
        try get(target, fields, host: host)
    }

    /// The answer to a GET by a client that holds a dictionary.
    func get(
        _ target: String, _ accept: String, over dictionary: [UInt8], _ fields: String...,
        host: String = "api.test"
    ) throws -> WireMessage {
        let digest = Digest(of: dictionary.span).base64
        return try get(
            target, ["Accept-Encoding: \(accept)", "Available-Dictionary: :\(digest):"] + fields, host: host)
    }

    /// The answer to a GET with fields from a list.
    func get(_ target: String, _ fields: [String], host: String) throws -> WireMessage {
        send(wire((["GET \(target) HTTP/1.1", "Host: \(host)"] + fields).joined(separator: "\r\n")))
        return try receive()
    }
}
