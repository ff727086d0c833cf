internal import Primitives
internal import Redis

/// The rules for replies of Redis: cutting changes nothing, limits hold, and what is written again reads the same.
enum RESPRules {
    private static let limits: RESPLimits = {
        var limits = RESPLimits()
        (limits.lineBytes, limits.replyBytes, limits.depth) = (64, 1024, 4)
        (limits.stringBytes, limits.skippedBytes) = (256, 2048)
        return limits
    }()

    private struct Outcome: Equatable {
        var replies: [RESPValue] = []
        var isWhole = false
        var fault: RESPParseError?
    }

    static func check(_ bytes: [UInt8]) throws(BrokenRule) {
        let whole = outcome(bytes, cuts: nil)
        for cuts in [Cuts(bytes), .single] {
            try require(outcome(bytes, cuts: cuts) == whole, "replies cut in pieces read the same")
        }
        for reply in whole.replies {
            try require(size(of: reply) <= limits.replyBytes, "a reply keeps its limit")
            try require(depth(of: reply) <= limits.depth, "a reply keeps its depth")
            var written: [UInt8] = []
            write(reply, into: &written)
            // Other forms of a reply may be shorter than the one that is written.
            let again = outcome(written, cuts: nil)
            guard again.fault == nil else { continue }
            try require(again.replies == [reply] && again.isWhole, "what is written again reads the same")
        }
        checkMeanings(whole.replies)
    }

    private static func outcome(_ bytes: [UInt8], cuts: Cuts?) -> Outcome {
        var parser = RESPParser(limits: limits)
        var outcome = Outcome()
        var cuts = cuts
        var start = 0
        while start < bytes.count {
            let end = cuts?.next(after: start, count: bytes.count) ?? bytes.count
            let piece = Array(bytes[start..<end])
            var offset = 0
            do throws(RESPParseError) {
                while let reply = try parser.next(piece.span, from: &offset) { outcome.replies.append(reply) }
            } catch {
                outcome.fault = error
                return outcome
            }
            start = end
        }
        outcome.isWhole = parser.isBetweenReplies
        return outcome
    }

    private static func size(of value: RESPValue) -> Int {
        switch value {
        case .bytes(let bytes), .status(let bytes): bytes.count
        case .array(let items): items.reduce(0) { $0 + size(of: $1) }
        case .null, .integer, .error: 0
        }
    }

    private static func depth(of value: RESPValue) -> Int {
        guard case .array(let items) = value else { return 0 }
        return 1 + (items.map(depth).max() ?? 0)
    }

    private static func write(_ value: RESPValue, into output: inout [UInt8]) {
        switch value {
        case .null: output += Array("_\r\n".utf8)
        case .integer(let number): output += Array(":\(number)\r\n".utf8)
        case .status(let bytes): output += Array("+".utf8) + bytes + Array("\r\n".utf8)
        case .bytes(let bytes): output += Array("$\(bytes.count)\r\n".utf8) + bytes + Array("\r\n".utf8)
        case .error(let error):
            let text = Array("\(error.code) \(error.message)".utf8)
            output += Array("!\(text.count)\r\n".utf8) + text + Array("\r\n".utf8)
        case .array(let items):
            output += Array("*\(items.count)\r\n".utf8)
            for item in items { write(item, into: &output) }
        }
    }

    /// Whatever a reply is, asking for its meaning does not trap.
    private static func checkMeanings(_ replies: [RESPValue]) {
        for reply in replies {
            _ = reply.text.map { RedisInfo($0)["run_id"] }
            _ = reply.text.flatMap(RedisStreamID.init)
            _ = reply.error?.advice
        }
    }
}
