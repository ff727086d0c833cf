import Primitives
import Testing

@testable import Redis

struct RESPParserTests {
    /// Parses all replies of a text that comes in pieces of a size.
    private static func replies(
        _ text: String, pieces: Int = .max, limits: RESPLimits = RESPLimits()
    ) throws(RESPParseError) -> [RESPValue] {
        var parser = RESPParser(limits: limits)
        var replies: [RESPValue] = []
        let bytes = Array(text.utf8)
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, pieces == .max ? bytes.count : start + pieces)
            let piece = Array(bytes[start..<end])
            var offset = 0
            while let reply = try parser.next(piece.span, from: &offset) { replies.append(reply) }
            start = end
        }
        return replies
    }

    private static func bytes(_ text: String) -> RESPValue { .bytes(Array(text.utf8)) }

    private static let cases: [(String, [RESPValue])] = [
        ("+OK\r\n", [.status(Array("OK".utf8))]),
        (":-42\r\n:7\r\n", [.integer(-42), .integer(7)]),
        ("$5\r\nhe\r\no\r\n", [bytes("he\r\no")]),
        ("$0\r\n\r\n", [bytes("")]),
        ("$-1\r\n*-1\r\n_\r\n", [.null, .null, .null]),
        (
            "-OOM command not allowed\r\n",
            [.error(RedisErrorReply(code: "OOM", message: "command not allowed"))]
        ),
        ("-oops\r\n", [.error(RedisErrorReply(code: "ERR", message: "oops"))]),
        ("!9\r\nERR a\r\nbc\r\n", [.error(RedisErrorReply(code: "ERR", message: "a\r\nbc"))]),
        ("*2\r\n:1\r\n*1\r\n$1\r\na\r\n", [.array([.integer(1), .array([bytes("a")])])]),
        ("*0\r\n%0\r\n", [.array([]), .array([])]),
        ("%1\r\n+a\r\n:1\r\n", [.array([.status([0x61]), .integer(1)])]),
        ("~1\r\n#t\r\n#f\r\n", [.array([.integer(1)]), .integer(0)]),
        (",1.5\r\n(123456789012345678901\r\n", [bytes("1.5"), bytes("123456789012345678901")]),
        ("=7\r\ntxt:abc\r\n", [bytes("abc")]),
        // Attributes and pushes belong to no command.
        ("|1\r\n+ttl\r\n:9\r\n$1\r\nv\r\n", [bytes("v")]),
        (">2\r\n+invalidate\r\n*1\r\n+k\r\n:1\r\n", [.integer(1)]),
        ("*2\r\n|1\r\n+a\r\n+b\r\n:1\r\n:2\r\n", [.array([.integer(1), .integer(2)])]),
    ]

    @Test(arguments: cases)
    func `replies of both versions read the same however they are cut`(
        text: String, expected: [RESPValue]
    ) throws {
        #expect(try Self.replies(text) == expected)
        for size in 1...5 { #expect(try Self.replies(text, pieces: size) == expected, "pieces of \(size)") }
    }

    @Test(arguments: [
        "HTTP/1.1 400 Bad Request\r\n", "\r\n", "$abc\r\n", "$-2\r\n", ":1\n", "$2\r\nabcd", "*1\r\n?\r\n",
        "#x\r\n", "=3\r\nabc\r\n", "$99999999999\r\n", ":\r\n", ">-1\r\n", "|-1\r\n",
    ])
    func `bytes that are no reply are an error`(text: String) throws {
        #expect(throws: RESPParseError.self) { try Self.replies(text) }
    }

    @Test(arguments: [">1\r\n+a\r\n", ">0\r\n", "|1\r\n+a\r\n:1\r\n", "|0\r\n"])
    func `so many pushes may come between two replies, and one more is refused`(push: String) throws {
        let most = String(repeating: push, count: RESPLimits().pushes)
        let two = most + "+OK\r\n" + most + "+OK\r\n"
        #expect(try Self.replies(two).count == 2)
        #expect(throws: RESPParseError.tooLarge("what the server pushes without a reply")) {
            try Self.replies("+OK\r\n" + most + push)
        }
    }

    @Test(arguments: [1_000, 100])
    func `so many bytes may be pushed between two replies, and one more is refused`(stringBytes: Int) throws {
        var limits = RESPLimits()
        limits.pushedBytes = 200
        limits.stringBytes = stringBytes
        // The two lines are values with their characters: 33 and 35 bytes.
        func push(_ count: Int) -> String { ">1\r\n$\(count)\r\n\(String(repeating: "a", count: count))\r\n" }
        for pieces in [1, 7, .max] {
            let twice = push(132) + ":1\r\n" + push(132) + ":1\r\n"
            #expect(try Self.replies(twice, pieces: pieces, limits: limits) == [.integer(1), .integer(1)])
            for more in [push(133), push(132) + ">0\r\n"] {
                #expect(throws: RESPParseError.self) {
                    try Self.replies(more, pieces: pieces, limits: limits)
                }
            }
        }
    }

    @Test func `a string may fill a reply, and one byte more is refused`() throws {
        var limits = RESPLimits()
        limits.replyBytes = 100
        // The line of the length is one value, with its digits.
        let most = 100 - 32 - 2
        #expect(throws: Never.self) {
            try Self.replies("$\(most)\r\n" + String(repeating: "a", count: most) + "\r\n", limits: limits)
        }
        #expect(throws: RESPParseError.tooLarge("a reply")) {
            try Self.replies("$\(most + 1)\r\n", limits: limits)
        }
        limits.replyBytes = 200
        let two = { (count: Int) in
            "*2\r\n" + String(repeating: "$\(count)\r\n\(String(repeating: "a", count: count))\r\n", count: 2)
        }
        #expect(throws: Never.self) { try Self.replies(two(49), limits: limits) }
        #expect(throws: RESPParseError.tooLarge("a reply")) { try Self.replies(two(50), limits: limits) }
    }

    @Test(arguments: [1, 2, 3, 7, Int.max])
    func `a string that is too large is skipped, and what follows reads as before`(pieces: Int) throws {
        var limits = RESPLimits()
        (limits.stringBytes, limits.skippedBytes) = (10, 30)
        let large = "$11\r\nabc\r\nefgh\r\n\r\n"
        let error = RESPValue.error(.tooLarge(bytes: 11))
        #expect(
            try Self.replies("$10\r\nabcdefghij\r\n", pieces: pieces, limits: limits) == [
                Self.bytes("abcdefghij")
            ], "as large as may be")
        #expect(
            try Self.replies(large + "*2\r\n\(large)$1\r\na\r\n+OK\r\n", pieces: pieces, limits: limits)
                == [error, .array([error, Self.bytes("a")]), .status(Array("OK".utf8))])
        #expect(error.error?.isForeignValue == true)
        // The bound is that of one reply, however many were skipped before.
        let four = String(repeating: large, count: 4)
        #expect(
            try Self.replies(four, pieces: pieces, limits: limits) == Array(repeating: error, count: 4))
        #expect(throws: RESPParseError.tooLarge("a reply")) {
            try Self.replies("*3\r\n\(large)\(large)\(large)", pieces: pieces, limits: limits)
        }
        #expect(throws: RESPParseError.malformed("a string ends without CR LF")) {
            try Self.replies("$11\r\nabcdefghijkxx", pieces: pieces, limits: limits)
        }
        limits.skippedBytes = 33
        #expect(
            try Self.replies("*3\r\n\(large)\(large)\(large)", pieces: pieces, limits: limits)
                == [.array([error, error, error])])
    }

    @Test func `of an array beyond its limit the rest is skipped, and the next one is read`() throws {
        var limits = RESPLimits()
        limits.arrayBytes = 5
        let text = "*2\r\n*3\r\n$4\r\nabcd\r\n$2\r\nef\r\n$1\r\ng\r\n*1\r\n$5\r\nhijkl\r\n"
        let first: [RESPValue] = [Self.bytes("abcd"), .error(.tooLarge(bytes: 2)), Self.bytes("g")]
        #expect(
            try Self.replies(text, limits: limits) == [
                .array([.array(first), .array([Self.bytes("hijkl")])])
            ])
    }

    @Test func `an entry of a stream that fills a reply is skipped, field by field`() throws {
        let field = "$100000\r\n" + String(repeating: "a", count: 100_000) + "\r\n"
        let entry = "*300\r\n" + String(repeating: field, count: 300)
        let replies = try Self.replies(entry + ":1\r\n", limits: .streams)
        #expect(replies.count == 2 && replies.last == .integer(1))
        guard case .array(let values) = replies.first else { throw RESPParseError.malformed("no array") }
        #expect(values.count { $0 == .error(.tooLarge(bytes: 100_000)) } == 298)
    }

    @Test func `many small values count as the memory that they take`() throws {
        var limits = RESPLimits()
        limits.replyBytes = 32 * 10
        #expect(throws: RESPParseError.tooLarge("a reply")) { try Self.replies("*10\r\n", limits: limits) }
        let nine = "*8\r\n" + String(repeating: ":1\r\n", count: 8)
        #expect(try Self.replies(nine + nine, limits: limits).count == 2)
    }

    @Test func `depth and lines have limits`() throws {
        var limits = RESPLimits()
        limits.depth = 3
        limits.lineBytes = 10
        #expect(throws: Never.self) { try Self.replies("*1\r\n*1\r\n*1\r\n:1\r\n", limits: limits) }
        #expect(throws: RESPParseError.tooLarge("the depth of a reply")) {
            try Self.replies("*1\r\n*1\r\n*1\r\n*1\r\n", limits: limits)
        }
        #expect(throws: Never.self) { try Self.replies("+12345678\r\n", limits: limits) }
        #expect(throws: RESPParseError.tooLarge("a line")) {
            try Self.replies("+1234567890", limits: limits)
        }
    }

    @Test func `a position in a stream is read as it is written, and ordered by time and then by number`() {
        let texts = ["5-9", "6-0", "6-1", "18446744073709551615-18446744073709551615"]
        let ids = texts.compactMap { RedisStreamID($0) }
        #expect(ids.map(\.text) == texts)
        #expect(ids.reversed().sorted() == ids)
        let others = ["", "5", "5-", "-5", "5-1-2", "5-x", "18446744073709551616-0"]
        #expect(others.allSatisfy { RedisStreamID($0) == nil })
    }

    @Test func `commands are arrays of bulk strings`() {
        let command = RedisCommand.setIfAbsent(Array("k".utf8), to: [0, 13, 10], seconds: 60)
        #expect(
            command.bytes
                == Array("*6\r\n$3\r\nSET\r\n$1\r\nk\r\n$3\r\n".utf8) + [0, 13, 10]
                + Array("\r\n$2\r\nNX\r\n$2\r\nEX\r\n$2\r\n60\r\n".utf8))
    }
}
