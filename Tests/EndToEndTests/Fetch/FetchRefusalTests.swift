internal import Dictionaries
internal import Foundation
internal import TestSupport
internal import Testing

/// Responses whose body must be refused: without a dictionary exit code 1, one line, nothing written; a delta is asked for again.
@Suite struct FetchRefusalTests {
    /// A response that must be refused, and the words of the refusal.
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let answer: [UInt8]
        let words: String
    }

    private static let delta = coded(feed(2), .dcz, over: feed(1))

    private static func answer(_ coding: ContentCoding, _ body: [UInt8]) -> [UInt8] {
        Wire.ok("Content-Encoding: \(coding.token)", body: body)
    }

    private static func raw(_ head: String, _ body: [UInt8]) -> [UInt8] { Array(head.utf8) + body }

    /// Deltas that do not decode.
    static let deltas = [
        Case(
            testDescription: "dcz over another dictionary",
            answer: answer(.dcz, coded(feed(2), .dcz, over: feed(3))),
            words: "dcz header: the digest of another"),
        Case(
            testDescription: "dcb over another dictionary",
            answer: answer(.dcb, coded(feed(2), .dcb, over: feed(3))),
            words: "dcb header: the digest of another"),
        Case(
            testDescription: "a magic number that is not that of dcz",
            answer: answer(.dcz, [0x28] + delta.dropFirst()),
            words: "dcz header: invalid magic number"),
        Case(
            testDescription: "dcb under the name of dcz",
            answer: answer(.dcz, coded(feed(2), .dcb, over: feed(1))),
            words: "dcz header: invalid magic number"),
        Case(
            testDescription: "a header cut short", answer: answer(.dcz, Array(delta.prefix(20))),
            words: "dcz header"),
        Case(testDescription: "an empty dcz", answer: answer(.dcz, []), words: "dcz header"),
        Case(testDescription: "a frame cut short", answer: answer(.dcz, delta.dropLast(5)), words: "dcz end"),
        Case(
            testDescription: "a frame with more behind it", answer: answer(.dcz, delta + [1, 2, 3, 4]),
            words: "dcz"),
        Case(
            testDescription: "a frame with a byte changed",
            answer: answer(.dcz, Array(delta.dropLast()) + [(delta.last ?? 0) ^ 1]), words: "dcz decode"),
    ]

    static let cases = [
        Case(
            testDescription: "gzip cut short", answer: answer(.gzip, coded(feed(2), .gzip).dropLast(9)),
            words: "gzip end"),
        Case(
            testDescription: "less than Content-Length says",
            answer: raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", Array("short".utf8)),
            words: "the response was cut off"),
        Case(
            testDescription: "chunks without the last",
            answer: raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n", []),
            words: "the response was cut off"),
        Case(
            testDescription: "no answer at all", answer: [], words: "closed the connection without a response"
        ),
        Case(testDescription: "no HTTP", answer: Array("SSH-2.0-x\r\n\r\n".utf8), words: "is not valid HTTP"),
        Case(
            testDescription: "a coding that nobody knows",
            answer: Wire.ok("Content-Encoding: lzma", body: [1]),
            words: "Content-Encoding: lzma, which fetch does not support"),
        Case(
            testDescription: "two codings", answer: Wire.ok("Content-Encoding: dcz, gzip", body: [1]),
            words: "Content-Encoding: dcz, gzip, which fetch does not support"),
    ]

    @Test(.timeLimit(.minutes(40)), arguments: cases)
    func `a body that cannot be trusted is refused whole`(bad: Case) throws {
        let origin = try Origin.closing { head in
            guard field("Available-Dictionary", of: head) == nil else { return bad.answer }
            return Wire.ok(#"Use-As-Dictionary: match="/feed""#, "Cache-Control: max-age=60", body: feed(1))
        }
        defer { origin.stop() }
        let fetching = try Fetching()
        #expect(try fetching.fetch("\(origin.url)/feed").report.stored)
        let kept = fetching.kept
        let result = try fetching.run("\(origin.url)/feed", "-o", "\(fetching.folder.path)/new")
        #expect(result.status == 1)
        #expect(result.errorLines.count == 1 && result.errors.hasPrefix("dictum: "))
        #expect(result.errors.contains(bad.words), "\(result.errors)")
        #expect(result.output.isEmpty && fetching.folder.read("new") == nil)
        #expect(fetching.kept == kept)
    }

    @Test(.timeLimit(.minutes(40)), arguments: deltas)
    func `a delta that does not decode costs the dictionary and one more request`(bad: Case) throws {
        let origin = try Origin([
            Wire.ok(#"Use-As-Dictionary: match="/feed""#, "Cache-Control: max-age=60", body: feed(1)),
            bad.answer, Wire.ok(body: feed(2)),
        ])
        defer { origin.stop() }
        let fetching = try Fetching()
        #expect(try fetching.fetch("\(origin.url)/feed").report.stored)
        let result = try fetching.run("\(origin.url)/feed")
        #expect(result.status == 0 && result.output == feed(2))
        #expect(result.errorLines.count == 2 && result.errors.contains(bad.words), "\(result.errors)")
        #expect(
            result.errors.contains(
                "the dictionary was dropped, and the request is sent once more without one"))
        #expect(origin.heads.map { field("Available-Dictionary", of: $0) } == [nil, available(feed(1)), nil])
        #expect(field("Accept-Encoding", of: origin.heads.last) == "zstd, br, gzip")
        #expect(fetching.kept.isEmpty)
    }

    @Test(.timeLimit(.minutes(40)))
    func `a request is sent twice at most, and what comes then is kept or refused`() throws {
        let offer = Wire.ok(#"Use-As-Dictionary: match="/feed""#, "Cache-Control: max-age=60", body: feed(1))
        let bad = try #require(Self.deltas.first).answer
        let origin = try Origin([offer, bad, offer, bad, bad])
        defer { origin.stop() }
        let fetching = try Fetching()
        for _ in 0..<2 {
            #expect(try fetching.fetch("\(origin.url)/feed").report.stored)
        }
        let result = try fetching.run("\(origin.url)/feed")
        #expect(result.status == 1 && result.output.isEmpty && result.errorLines.count == 2)
        #expect(result.errors.contains("no dictionary was offered"), "\(result.errors)")
        #expect(origin.requests.count == 5 && fetching.kept.isEmpty)
    }

    @Test(.timeLimit(.minutes(40)))
    func `a dictionary coding without a dictionary offered is refused`() throws {
        let origin = try Origin.closing { _ in
            Wire.ok("Content-Encoding: dcb", body: coded(feed(2), .dcb, over: feed(1)))
        }
        defer { origin.stop() }
        let result = try Fetching().run("\(origin.url)/feed")
        #expect(result.status == 1 && result.output.isEmpty)
        #expect(result.errors.contains("coded in dcb, but no dictionary was offered"))
    }

    @Test(.timeLimit(.minutes(40)))
    func `a server that never answers is given up in time`() throws {
        let origin = try Origin.closing { _ in nil }
        defer { origin.stop() }
        let result = try Fetching().run("\(origin.url)/feed", "--max-time", "1")
        #expect(result.status == 1)
        #expect(
            result.errors
                == "dictum: no complete response within 1 s; allow more time with --max-time SECONDS\n")
    }

    @Test(.timeLimit(.minutes(40)))
    func `nobody there, nobody who speaks TLS, and a full disk are errors of one line`() throws {
        let fetching = try Fetching()
        let gone = try fetching.run("http://127.0.0.1:1/")
        #expect(gone.status == 1)
        #expect(
            gone.errors == "dictum: cannot connect: Connection refused; check that the server is running\n")
        let origin = try Origin.closing { _ in Wire.ok(body: feed(1)) }
        defer { origin.stop() }
        let plain = try fetching.run("https://\(origin.url.dropFirst(7))/feed", "--max-time", "5")
        #expect(plain.status == 1)
        #expect(plain.errorLines.count == 1)
        let full = try fetching.run("\(origin.url)/feed", "-o", "/dev/full")
        #expect(full.status == 1)
        #expect(full.errors == "dictum: cannot write to /dev/full: No space left on device\n")
    }

    @Test(.enabled(if: SilentResolver.isAllowed, "a name server of its own needs namespaces"))
    func `a name server that does not answer is waited for until --max-time, too`() throws {
        let result = try SilentResolver.run([
            "fetch", "http://silent.test/", "--cache", "cache", "--max-time", "1",
        ])
        #expect(result.status == 1)
        #expect(
            result.errors
                == "dictum: no complete response within 1 s; allow more time with --max-time SECONDS\n")
    }

    @Test(
        .timeLimit(.minutes(40)),
        arguments: [
            [], ["ftp://example.com/"], ["http://"], ["http://a b/"], ["http://x/", "--accept", "lzma"],
            ["http://x/", "--accept", ""], ["http://x/", "--json", "-o", "-"],
            ["http://x/", "--max-time", "0"], ["http://x/", "-X", "A B"], ["http://x/", "-d", "@/none"],
            ["https://127.0.0.1:1/", "--ca", "/none.pem"],
        ])
    func `wrong usage ends with 64`(arguments: [String]) throws {
        let result = try RunningProcess.run(["fetch"] + arguments)
        #expect(result.status == 64)
        #expect(!result.errors.isEmpty && result.output.isEmpty)
    }
}
