import Testing

@testable import Redis

/// A connection introduces itself first, and some replies to that end it.
struct GreetingTests {
    private static func greeting(user: String? = nil, database: Int = 0) -> RedisGreeting {
        var settings = RedisSettings(address: .host("a.test", port: 6379))
        (settings.user, settings.database) = (user, database)
        return RedisGreeting(settings, password: "p")
    }

    private static func error(_ code: String, _ message: String = "x") -> RESPValue {
        .error(RedisErrorReply(code: code, message: message))
    }

    @Test func `a password without a user is that of the user default`() {
        #expect(
            Self.greeting().hello == RedisCommand("HELLO", "3", "AUTH", "default", "p", "SETNAME", "dictum"))
    }

    @Test func `a server without HELLO gets the user with the password`() {
        var greeting = Self.greeting(user: "u")
        let step = greeting.next(Self.error("NOPROTO"))
        #expect(step == .send([RedisCommand("AUTH", "u", "p")]))
    }

    @Test func `a database that the server does not have is named`() {
        var greeting = Self.greeting(database: 3)
        _ = greeting.next(.array([]))
        let step = greeting.next(Self.error("ERR", "DB index is out of range"))
        #expect(step == .refused("it has no database 3: ERR DB index is out of range"))
    }

    @Test func `a server that may not tell its role is used, and one that is loading is not`() {
        for (code, isUsed) in [("NOPERM", true), ("LOADING", false)] {
            var greeting = Self.greeting()
            _ = greeting.next(Self.error("ERR", "unknown command 'HELLO'"))
            _ = greeting.next(.status(Array("OK".utf8)))
            let step = greeting.next(Self.error(code))
            #expect((step == .done(RedisServerFacts())) == isUsed)
            if !isUsed { #expect(step == .refused("it is loading its data; this ends by itself")) }
        }
    }

    // MARK: Positions and entries of streams

    @Test(arguments: [("5-1", "5-2"), ("5-9", "6-0"), ("9-0", "10-0"), ("0-0", "0-1")])
    func `a position is before another by its time, and then by its number`(first: String, second: String)
        throws
    {
        let (one, other) = (try #require(RedisStreamID(first)), try #require(RedisStreamID(second)))
        #expect(one < other && !(other < one) && !(one < one) && one.text == first)
    }

    @Test(arguments: ["", "5", "5-", "-5", "5-1-2", "a-1", "5--1"])
    func `any other text is no position`(text: String) { #expect(RedisStreamID(text) == nil) }

    @Test func `a field that is too large is left out of its entry, and the others are read`() throws {
        func bytes(_ text: String) -> RESPValue { .bytes(Array(text.utf8)) }
        let large = RESPValue.error(.tooLarge(bytes: 200_000))
        let entry = RESPValue.array([
            bytes("5-1"), .array([bytes("a"), large, large, bytes("b"), bytes("f"), bytes("v")]),
        ])
        let found = try #require(StreamReply.read(.array([bytes("news"), .array([entry])])))
        let fields = try #require(found.first?.entries.first).fields
        #expect(fields.count == 1 && fields[0].name == [0x66] && fields[0].value == [0x76])
    }
}
