internal import Dictionaries
internal import HTTP
internal import Testing

@testable internal import dictum

/// The fields, the codings, the content and the time that the options of a request stand for, without a connection.
struct RequestOptionsTests {
    // MARK: Fields

    @Test(arguments: [
        "Connection", "Content-Length", "Transfer-Encoding", "TE", "Trailer", "Upgrade", "Expect",
        "Keep-Alive", "Accept-Encoding", "Available-Dictionary", "Dictionary-ID", "dictionary-id",
    ])
    func `fields of the framing and of the negotiation are not the user's`(name: String) {
        #expect(throws: (any Error).self) { try RequestFields(["\(name): x"], cookie: nil) }
    }

    @Test func `a value may have colons, tabs and letters beyond ASCII, and no other control characters`()
        throws
    {
        let fields = try RequestFields(["X-A: http://b:c ", "X-B: b\tc", "X-C:ä", "X-D:"], cookie: "a=b")
        let lines = fields.fields.map { "\($0.name.text)=\($0.value)" }
        #expect(lines.joined(separator: "|") == "x-a=http://b:c|x-b=b\tc|x-c=ä|x-d=|Cookie=a=b")
        for text in ["X-A: b\u{7F}", "X-A: b\u{1}c", "X-A", "X A: b", ": b"] {
            #expect(throws: (any Error).self, "\(text)") { try RequestFields([text], cookie: nil) }
        }
        for cookie in ["", "a=\u{1}"] {
            #expect(throws: (any Error).self) { try RequestFields([], cookie: cookie) }
        }
    }

    @Test func `the same credentials in another order are those of the same user`() throws {
        let one = try RequestFields(["X-Key: a", "Authorization: b", "Accept: text/x"], cookie: nil)
        let other = try RequestFields(["Authorization: b", "X-Key: a"], cookie: nil)
        #expect(one.credentials == other.credentials && one.credentials != nil)
        let exchanged = try RequestFields(["Authorization: a", "X-Key: b"], cookie: nil)
        #expect(exchanged.credentials != one.credentials)
        #expect(try RequestFields(["Accept: text/x"], cookie: nil).credentials == nil)
    }

    // MARK: Codings

    @Test func `codings are accepted in the order of the user, each once, and all of them known`() throws {
        let list = try #require(CodingList(argument: "dcz, BR,gzip,br"))
        #expect(list.codings.map(\.token).joined(separator: " ") == "dcz br gzip")
        for text in ["", "br,", "lzma"] { #expect(CodingList(argument: text) == nil, "\(text)") }
    }

    @Test func `codings over a dictionary are accepted only beside one`() throws {
        let list = try #require(CodingList(argument: "dcz,br"))
        #expect(list.acceptEncoding(withDictionary: true) == "dcz, br")
        #expect(list.acceptEncoding(withDictionary: false) == "br")
        let none = try #require(CodingList(argument: "dcb"))
        #expect(none.acceptEncoding(withDictionary: false) == "identity")
        #expect(none.usesDictionaries && CodingList(argument: "br,gzip")?.usesDictionaries == false)
    }

    // MARK: Content

    @Test(
        arguments: [
            ("POST", nil, "0", nil), ("PUT", nil, "0", nil), ("DELETE", nil, nil, nil), (nil, nil, nil, nil),
            ("GET", "ab", "2", "application/x-www-form-urlencoded"),
            (nil, "", "0", "application/x-www-form-urlencoded"),
        ] as [(String?, String?, String?, String?)])
    func `POST and PUT have a length without content too, and a type only with it`(
        method: String?, data: String?, length: String?, type: String?
    ) throws {
        var headers = Headers()
        try FetchContent(method: method, data: data.map { [$0] } ?? []).add(to: &headers)
        #expect(headers.first(.contentLength) == length && headers.first(.contentType) == type)
    }

    @Test func `content makes a request the POST that a redirect takes it from, whatever -X says`() throws {
        let put = try FetchContent(method: "PUT", data: ["a"])
        let found = try #require(put.redirected(status: 302))
        #expect(found.next.method == .put && found.next.bytes.isEmpty && !found.isKept)
        let kept = try #require(put.redirected(status: 307))
        #expect(kept.next == put && kept.isKept)
        let post = try FetchContent(method: "POST", data: [])
        let same = try #require(post.redirected(status: 302))
        #expect(same.next == post && same.isKept)
        #expect(put.redirected(status: 304) == nil)
    }

    // MARK: Time

    @Test func `a part of a fetch ends with the whole, and no later than its own limit`() {
        let (over, long) = (FetchDeadline(seconds: 0), FetchDeadline(seconds: 100))
        #expect(FetchDeadline(seconds: 100, within: over).remainingMilliseconds == 0)
        #expect(FetchDeadline(seconds: 0, within: long).remainingMilliseconds == 0)
        #expect(FetchDeadline(seconds: 50, within: long).remainingMilliseconds > 0)
        let own = FetchDeadline(seconds: 9, isOption: false)
        #expect(FetchDeadline(seconds: 5, within: own).error == .tooSlow(seconds: 5, isOption: false))
        #expect(FetchDeadline(seconds: 5, within: long).error == .tooSlow(seconds: 5, isOption: true))
    }

    @Test func `what interrupts a fetch ends the wait of its parts, which look often`() {
        let interrupted = FetchDeadline(seconds: 100, isInterrupted: { true })
        #expect(interrupted.nextMilliseconds == 0)
        #expect(FetchDeadline(seconds: 50, within: interrupted).nextMilliseconds == 0)
        #expect(FetchDeadline(seconds: 100, isInterrupted: { false }).nextMilliseconds == 100)
    }
}
