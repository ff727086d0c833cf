internal import HTTP

/// The rules for the PROXY protocol: the parser asks for more bytes after every prefix of a header, ignores the bytes
/// after the header, and accepts no header above the maximum length.
enum ProxyHeaderRules {
    static func check(_ bytes: [UInt8]) throws(BrokenRule) {
        let all = outcome(bytes[...])
        guard case .header(let header) = all else {
            guard case .fault = all else { return }
            return try require(
                outcome(bytes + [0]) == .fault, "what is refused is refused whatever follows")
        }
        try require(
            header.byteCount <= min(bytes.count, ProxyHeader.byteCountMax), "a header lies within the bytes")
        try require(outcome(bytes[..<header.byteCount]) == all, "what follows a header has no part in it")
        for end in 0..<header.byteCount {
            try require(outcome(bytes[..<end]) == .incomplete, "a beginning of a header asks for more")
        }
    }

    private enum Outcome: Equatable {
        case incomplete
        case header(ProxyHeader)
        case fault
    }

    private static func outcome(_ bytes: some Sequence<UInt8>) -> Outcome {
        let bytes = Array(bytes)
        do throws(ProxyHeaderError) {
            guard let header = try ProxyHeader.parse(bytes.span) else { return .incomplete }
            return .header(header)
        } catch {
            return .fault
        }
    }
}
