internal import HTTP
internal import Primitives

/// The rules for heads: cutting the input does not change the result, a written head parses to the same head, and
/// every accepted head is written in a form that all readers understand in the same way.
enum HeadRules {
    private static let limits = MessageLimits(headBytes: 2048, fieldCount: 24, requestTargetBytes: 256)
    /// One field more, for the Host field that is added if it is missing.
    private static let limitsOfWritten = MessageLimits(
        headBytes: 2048, fieldCount: 25, requestTargetBytes: 256)

    private typealias Parse = (inout HeadParser, Span<UInt8>) throws(ParseError) -> Head?

    /// A head as it is forwarded, and the framings of its body.
    private struct Head: Equatable {
        var written: [UInt8] = []
        var framings: [BodyFraming] = []
    }

    private enum Outcome: Equatable {
        case incomplete
        case head(Head, consumed: Int)
        case fault(ParseError)
    }

    static func checkRequest(_ bytes: [UInt8]) throws(BrokenRule) { try check(bytes, parseRequest) }

    static func checkResponse(_ bytes: [UInt8]) throws(BrokenRule) { try check(bytes, parseResponse) }

    private static func check(_ bytes: [UInt8], _ parse: Parse) throws(BrokenRule) {
        let whole = outcome(bytes, cuts: nil, parse)
        for cuts in [Cuts(bytes), .single] {
            try require(outcome(bytes, cuts: cuts, parse) == whole, "a head cut in pieces reads the same")
        }
        guard case .head(let head, let consumed) = whole else { return }
        try require(
            outcome(Array(bytes[..<consumed]), cuts: nil, parse) == whole,
            "what follows a head has no part in it")
        try checkPlain(head.written)
        guard
            case .head(let again, let length) = outcome(
                head.written, cuts: nil, limits: limitsOfWritten, parse)
        else {
            return try require(head.written.count > limits.headBytes, "a head that is passed on can be read")
        }
        try require(
            again == head && length == head.written.count, "a head that is passed on reads as the same")
    }

    /// Reads the lines as the most lenient reader would, which takes a CR or an LF alone for the end of a line.
    private static func checkPlain(_ written: [UInt8]) throws(BrokenRule) {
        let lines = String(decoding: written, as: Unicode.ASCII.self).unicodeScalars
            .split(omittingEmptySubsequences: false) { $0 == "\r" || $0 == "\n" }
        // Each CRLF is two ends of lines with nothing between them.
        try require(lines.count % 2 == 1 && lines.last?.isEmpty == true, "a head ends with its last line")
        var names: [String] = []
        for index in lines.indices {
            let isLine = index.isMultiple(of: 2) && index < lines.count - 3
            try require(isLine != lines[index].isEmpty, "every line ends in CRLF and only the last is empty")
            guard isLine, index > 0 else { continue }
            let name = lines[index].prefix { $0 != ":" }
            try require(
                name.count < lines[index].count && !name.isEmpty
                    && name.allSatisfy { $0.value > 0x20 && $0.value < 0x7F }, "every field has a plain name")
            names.append(String(name).lowercased())
        }
        let lengths = names.count { $0 == "content-length" }
        let codings = names.count { $0 == "transfer-encoding" }
        try require(
            lengths + codings <= 1 && names.count { $0 == "host" } <= 1,
            "there is one framing at most, and one Host")
    }

    private static func outcome(
        _ bytes: [UInt8], cuts: Cuts?, limits: MessageLimits = limits, _ parse: Parse
    ) -> Outcome {
        var parser = HeadParser(limits: limits)
        var cuts = cuts
        var end = 0
        repeat {
            end = cuts?.next(after: end, count: bytes.count) ?? bytes.count
            do throws(ParseError) {
                if let head = try parse(&parser, bytes.span.extracting(0..<end)) {
                    return .head(head, consumed: parser.consumed)
                }
            } catch {
                return .fault(error)
            }
        } while end < bytes.count
        return .incomplete
    }

    private static func parseRequest(_ parser: inout HeadParser, _ bytes: Span<UInt8>) throws(ParseError)
        -> Head?
    {
        guard var head = try parser.parseRequest(bytes) else { return nil }
        var outcome = Head()
        outcome.framings = [try BodyFraming.ofRequest(head)]
        _ = head.keepsAlive
        _ = head.authority
        _ = head.target.query
        head.version = .http11
        // An HTTP/1.0 client may send no Host field. The proxy adds one.
        if !head.headers.contains(.host) { head.headers.append(.host, "a") }
        HeadWriter.write(head, into: &outcome.written)
        return outcome
    }

    private static func parseResponse(_ parser: inout HeadParser, _ bytes: Span<UInt8>) throws(ParseError)
        -> Head?
    {
        guard let head = try parser.parseResponse(bytes) else { return nil }
        var outcome = Head()
        // The proxy removes the framing fields of messages without a body.
        var passed = head
        if head.status.isInformational || head.status == .noContent {
            passed.headers.remove(.contentLength)
            passed.headers.remove(.transferEncoding)
        }
        for method in [Method.get, .head] {
            outcome.framings.append(try BodyFraming.ofResponse(head, toRequest: method))
        }
        _ = head.keepsAlive
        HeadWriter.write(passed, into: &outcome.written)
        return outcome
    }
}
