internal import HTTP

/// The rules for the PROXY protocol: every beginning of a header asks for more, and the header is never longer than allowed.
enum ProxyHeaderRules {
    static func check(_ bytes: [UInt8]) {
        guard let header = try? ProxyHeader.parse(bytes.span) else { return }
        require(
            header.byteCount <= min(bytes.count, ProxyHeader.byteCountMax), "a header lies within the bytes")
        for end in 0..<header.byteCount {
            let part = Result { try ProxyHeader.parse(bytes.span.extracting(0..<end)) }
            guard case .success(nil) = part else {
                return require(false, "a beginning of a header asks for more")
            }
        }
    }
}
