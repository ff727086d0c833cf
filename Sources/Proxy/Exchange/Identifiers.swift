internal import HTTP
internal import Primitives

/// Identifiers that requests bring along; pure functions of their fields.
enum Identifiers {
    /// The identifier that a request has in a field: one value of 1 to 128 letters, digits and `-_.+/=:@`.
    static func requestID(in headers: borrowing Headers, _ name: HeaderName) -> [UInt8]? {
        guard hasRequestID(headers, name) else { return nil }
        var id: [UInt8] = []
        headers.forEachValue(of: name) { value in id = value.indices.map { value[$0] } }
        return id
    }

    /// Whether there is such an identifier.
    static func hasRequestID(_ headers: borrowing Headers, _ name: HeaderName) -> Bool {
        var count = 0
        var isWellFormed = true
        headers.forEachValue(of: name) { value in
            count += 1
            isWellFormed = 1...128 ~= value.count && value.indices.allSatisfy { isOfID(value[$0]) }
        }
        return count == 1 && isWellFormed
    }

    private static func isOfID(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "-_.+/=:@".utf8.contains(byte)
        }
    }

    /// The trace identifier of a request, 32 digits, by its one traceparent (W3C Trace Context section 3.2).
    static func traceID(in headers: borrowing Headers) -> [UInt8]? {
        var count = 0
        var id: [UInt8]?
        headers.forEachValue(of: .traceparent) { value in
            count += 1
            id = traceID(value)
        }
        return count == 1 ? id : nil
    }

    /// `version-traceid-parentid-flags`, all of them small hexadecimal digits; later versions may have more behind it.
    private static func traceID(_ value: Span<UInt8>) -> [UInt8]? {
        let length = 55
        guard value.count >= length, [2, 35, 52].allSatisfy({ value[$0] == UInt8(ascii: "-") }),
            [0..<2, 3..<35, 36..<52, 53..<55].joined().allSatisfy({ isHexadecimal(value[$0]) })
        else { return nil }
        let version = [value[0], value[1]]
        guard version != Array("ff".utf8),
            value.count == length || version != Array("00".utf8) && value[length] == UInt8(ascii: "-")
        else { return nil }
        let id = (3..<35).map { value[$0] }
        return id.allSatisfy { $0 == UInt8(ascii: "0") } ? nil : id
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        0x30...0x39 ~= byte || 0x61...0x66 ~= byte
    }
}
