internal import HTTP

/// The rules for heads: cutting changes nothing, and what is written again reads as the same.
enum HeadRules {
    private static let limits = MessageLimits(headBytes: 2048, fieldCount: 24, requestTargetBytes: 256)

    /// What became of a head: its bytes as they are passed on and how many were taken, or the fault.
    private enum Outcome: Equatable {
        case incomplete
        case head([UInt8], consumed: Int)
        case fault(ParseError)
    }

    static func checkRequest(_ bytes: [UInt8]) {
        let whole = outcome(bytes, cuts: nil, parseRequest)
        require(
            outcome(bytes, cuts: Cuts(bytes), parseRequest) == whole,
            "a request's head cut in pieces reads the same")
        guard case .head(let written, _) = whole else { return }
        guard case .head(let again, let consumed) = outcome(written, cuts: nil, parseRequest) else {
            return require(written.count > limits.headBytes, "a request that is passed on can be read")
        }
        require(
            again == written && consumed == written.count, "a request that is passed on reads as the same")
    }

    static func checkResponse(_ bytes: [UInt8]) {
        let whole = outcome(bytes, cuts: nil, parseResponse)
        require(
            outcome(bytes, cuts: Cuts(bytes), parseResponse) == whole,
            "a response's head cut in pieces reads the same")
        guard case .head(let written, _) = whole else { return }
        guard case .head(let again, let consumed) = outcome(written, cuts: nil, parseResponse) else {
            return require(written.count > limits.headBytes, "a response that is passed on can be read")
        }
        require(
            again == written && consumed == written.count, "a response that is passed on reads as the same")
    }

    private static func outcome(
        _ bytes: [UInt8], cuts: Cuts?,
        _ parse: (inout HeadParser, Span<UInt8>) throws(ParseError) -> [UInt8]?
    ) -> Outcome {
        var parser = HeadParser(limits: limits)
        var cuts = cuts
        var end = 0
        repeat {
            end = cuts?.next(after: end, count: bytes.count) ?? bytes.count
            do throws(ParseError) {
                if let written = try parse(&parser, bytes.span.extracting(0..<end)) {
                    return .head(written, consumed: parser.consumed)
                }
            } catch {
                return .fault(error)
            }
        } while end < bytes.count
        return .incomplete
    }

    private static func parseRequest(_ parser: inout HeadParser, _ bytes: Span<UInt8>) throws(ParseError)
        -> [UInt8]?
    {
        guard var head = try parser.parseRequest(bytes) else { return nil }
        _ = try BodyFraming.ofRequest(head)
        _ = head.keepsAlive
        _ = head.authority
        head.version = .http11
        var written: [UInt8] = []
        HeadWriter.write(head, into: &written)
        return written
    }

    private static func parseResponse(_ parser: inout HeadParser, _ bytes: Span<UInt8>) throws(ParseError)
        -> [UInt8]?
    {
        guard let head = try parser.parseResponse(bytes) else { return nil }
        for method in [Method.get, .head, .connect] {
            _ = try BodyFraming.ofResponse(head, toRequest: method)
        }
        var written: [UInt8] = []
        HeadWriter.write(head, into: &written)
        return written
    }
}
