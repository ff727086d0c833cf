/// The bytes with which every HTTP/2 client begins (RFC 9113 section 3.4).
enum HTTP2Preface {
    enum Match: Equatable {
        case none
        /// More bytes are needed.
        case partial
        case whole
    }

    static var count: Int { bytes.count }
    private static let bytes = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    /// Compares the first bytes of a connection.
    static func match(_ first: Span<UInt8>) -> Match {
        let count = min(first.count, bytes.count)
        for index in 0..<count where first[index] != bytes[index] { return .none }
        return count == bytes.count ? .whole : .partial
    }
}
