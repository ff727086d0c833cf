internal import Dictionaries
internal import TestSupport
internal import Testing

/// The dictionaries that a client keeps, and the one it offers (RFC 9842 section 2).
@Suite struct FetchDictionaryTests {
    private static let offer = #"Use-As-Dictionary: match="/feed", id="v\"1""#

    @Test(.timeLimit(.minutes(40)), arguments: [ContentCoding.dcz, .dcb])
    func `the second fetch names the first body and reads the difference`(coding: ContentCoding) throws {
        let origin = try Origin.closing { head in
            guard field("Available-Dictionary", of: head) != nil else {
                return Wire.ok(Self.offer, "Cache-Control: max-age=60", body: feed(1))
            }
            let delta = coded(feed(2), coding, over: feed(1))
            return Wire.ok("Content-Encoding: \(coding.token)", body: delta)
        }
        defer { origin.stop() }
        let fetching = try Fetching()
        let first = try fetching.fetch("\(origin.url)/feed")
        #expect(first.body == feed(1))
        #expect(first.report.coding == "identity" && first.report.stored && first.report.advertised == nil)
        let second = try fetching.fetch("\(origin.url)/feed")
        #expect(second.body == feed(2))
        #expect(second.report.coding == coding.token)
        #expect(second.report.wire_bytes == coded(feed(2), coding, over: feed(1)).count)
        #expect(second.report.body_bytes == feed(2).count)
        // RFC 9842 section 6.1: neither dcb nor dcz is offered without a dictionary.
        let requests = origin.heads
        #expect(field("Accept-Encoding", of: requests.first) == "zstd, br, gzip")
        #expect(field("Dictionary-ID", of: requests.first) == nil)
        #expect(field("Accept-Encoding", of: requests.last) == "dcz, dcb, zstd, br, gzip")
        #expect(field("Available-Dictionary", of: requests.last) == available(feed(1)))
        #expect(field("Dictionary-ID", of: requests.last) == #""v\"1""#)
    }

    @Test(
        .timeLimit(.minutes(40)),
        arguments: [
            ["Cache-Control: max-age=60"],
            ["Cache-Control: private, max-age=60"],
            ["Cache-Control: max-age=0, stale-while-revalidate=60"],
            ["Expires: Fri, 01 Jan 2100 00:00:00 GMT"],
            ["Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"],
        ])
    func `an answer that a private cache may use is kept`(fields: [String]) throws {
        let origin = try Origin.closing { _ in
            Wire.answer("200 OK", [#"Use-As-Dictionary: match="/feed""#] + fields, body: feed(1))
        }
        defer { origin.stop() }
        let fetching = try Fetching()
        #expect(try fetching.fetch("\(origin.url)/feed").report.stored)
        _ = try fetching.fetch("\(origin.url)/feed")
        #expect(field("Available-Dictionary", of: origin.heads.last) == available(feed(1)))
    }

    @Test(
        .timeLimit(.minutes(40)),
        arguments: [
            ("200 OK", [#"Use-As-Dictionary: match="/feed""#]),
            ("200 OK", [#"Use-As-Dictionary: match="/feed""#, "Cache-Control: max-age=60, no-store"]),
            ("200 OK", [#"Use-As-Dictionary: match="/feed", ttl=60"#, "Cache-Control: no-store"]),
            ("200 OK", [#"Use-As-Dictionary: match="/feed""#, "Cache-Control: max-age=60, no-cache"]),
            ("200 OK", [#"Use-As-Dictionary: match="/feed""#, "Cache-Control: max-age=0"]),
            ("200 OK", [#"Use-As-Dictionary: match="/feed""#, "Cache-Control: s-maxage=60"]),
            ("200 OK", [#"Use-As-Dictionary: match="/feed""#, "Cache-Control: max-age=60", "Age: 60"]),
            ("200 OK", [#"Use-As-Dictionary: match="/feed""#, "Cache-Control: max-age=60", "Vary: *"]),
            ("200 OK", [#"Use-As-Dictionary: match="/feed", ttl=0"#, "Cache-Control: max-age=60"]),
            ("200 OK", [#"Use-As-Dictionary: match="/feed", type=other"#, "Cache-Control: max-age=60"]),
            ("200 OK", [#"Use-As-Dictionary: match="/(f.*)""#, "Cache-Control: max-age=60"]),
            (
                "200 OK",
                [#"Use-As-Dictionary: match="http://other.example/feed""#, "Cache-Control: max-age=60"]
            ),
            ("200 OK", ["Use-As-Dictionary: match=/feed", "Cache-Control: max-age=60"]),
            ("404 Not Found", [#"Use-As-Dictionary: match="/feed""#, "Cache-Control: max-age=60"]),
            ("200 OK", ["Cache-Control: max-age=60"]),
        ])
    func `an answer that may not be used again is not kept`(status: String, fields: [String]) throws {
        let origin = try Origin.closing { _ in Wire.answer(status, fields, body: feed(1)) }
        defer { origin.stop() }
        let fetching = try Fetching()
        let first = try fetching.fetch("\(origin.url)/feed")
        #expect(first.body == feed(1) && !first.report.stored)
        _ = try fetching.fetch("\(origin.url)/feed")
        #expect(field("Available-Dictionary", of: origin.heads.last) == nil)
    }

    // RFC 9842 section 2.1.2
    @Test(
        .timeLimit(.minutes(40)),
        arguments: [(#"("")"#, true), (#"("document" "")"#, true), (#"("document")"#, false)])
    func `a dictionary for other destinations is kept and not offered, which is said`(
        destinations: String, isOffered: Bool
    ) throws {
        let offer = #"Use-As-Dictionary: match="/feed", match-dest=\#(destinations)"#
        let origin = try Origin.closing { _ in Wire.ok(offer, "Cache-Control: max-age=60", body: feed(1)) }
        defer { origin.stop() }
        let fetching = try Fetching()
        let first = try fetching.run("\(origin.url)/feed")
        #expect(first.errors.contains("match-dest has document\n") == !isOffered, "\(first.errors)")
        _ = try fetching.fetch("\(origin.url)/feed")
        #expect(
            field("Available-Dictionary", of: origin.heads.last) == (isOffered ? available(feed(1)) : nil))
    }

    @Test(.timeLimit(.minutes(40)))
    func `the member ttl counts in place of the answer's own freshness`() throws {
        let origin = try Origin.closing { _ in
            Wire.ok(#"Use-As-Dictionary: match="/feed", ttl=60"#, "Cache-Control: max-age=0", body: feed(1))
        }
        defer { origin.stop() }
        let fetching = try Fetching()
        #expect(try fetching.fetch("\(origin.url)/feed").report.stored)
        _ = try fetching.fetch("\(origin.url)/feed")
        #expect(field("Available-Dictionary", of: origin.heads.last) == available(feed(1)))
    }

    @Test(.timeLimit(.minutes(40)))
    func `the longest match is offered, then the newest, and only where it matches`() throws {
        let origin = try Origin.closing { head in
            let offers = [
                "/long": ("/data/special*", 1), "/short": ("/data/*", 2), "/old": ("/equal/a*", 3),
                "/new": ("/equal/*b", 4), "/relative/one": ("*", 5),
            ]
            let path = String(head.dropFirst(4).prefix { $0 != " " })
            guard let (match, version) = offers[path] else {
                return Wire.ok("Cache-Control: no-store", body: feed(0))
            }
            return Wire.ok(
                "Use-As-Dictionary: match=\"\(match)\"", "Cache-Control: max-age=60", body: feed(version))
        }
        defer { origin.stop() }
        let fetching = try Fetching()
        for path in ["/long", "/short", "/old", "/new", "/relative/one"] {
            _ = try fetching.fetch(origin.url + path)
        }
        let expected = [
            "/data/special-1": 1, "/data/other": 2, "/equal/ab": 4, "/equal/a": 3, "/relative/two?x=1": 5,
        ]
        for (path, version) in expected {
            _ = try fetching.fetch(origin.url + path)
            let named = field("Available-Dictionary", of: origin.heads.last)
            #expect(named == available(feed(version)), "\(path)")
        }
        _ = try fetching.fetch("\(origin.url)/elsewhere")
        #expect(field("Available-Dictionary", of: origin.heads.last) == nil)
    }

    @Test(.timeLimit(.minutes(40)))
    func `a dictionary is never offered to another origin`() throws {
        let offer = #"Use-As-Dictionary: match="/*""#
        let first = try Origin.closing { _ in Wire.ok(offer, "Cache-Control: max-age=60", body: feed(1)) }
        let second = try Origin.closing { _ in Wire.ok(body: feed(2)) }
        defer {
            first.stop()
            second.stop()
        }
        let fetching = try Fetching()
        #expect(try fetching.fetch("\(first.url)/feed").report.stored)
        _ = try fetching.fetch("\(second.url)/feed")
        #expect(field("Available-Dictionary", of: second.heads.last) == nil)
    }

    @Test(.timeLimit(.minutes(40)))
    func `without dcz and dcb nothing is kept and nothing is offered`() throws {
        let origin = try Origin.closing { _ in
            Wire.ok(#"Use-As-Dictionary: match="/feed""#, "Cache-Control: max-age=60", body: feed(1))
        }
        defer { origin.stop() }
        let fetching = try Fetching()
        #expect(try !fetching.fetch("\(origin.url)/feed", "--accept", "gzip").report.stored)
        #expect(try fetching.fetch("\(origin.url)/feed").report.stored)
        _ = try fetching.fetch("\(origin.url)/feed", "--accept", "gzip, br")
        #expect(field("Available-Dictionary", of: origin.heads.last) == nil)
        #expect(field("Accept-Encoding", of: origin.heads.last) == "gzip, br")
    }

    @Test(.timeLimit(.minutes(40)), arguments: [ContentCoding.gzip, .br, .zstd])
    func `a dictionary that travelled coded is kept as its decoded bytes`(coding: ContentCoding) throws {
        let origin = try Origin.closing { _ in
            Wire.ok(
                #"Use-As-Dictionary: match="/feed""#, "Cache-Control: max-age=60",
                "Content-Encoding: \(coding.token)", body: coded(feed(1), coding))
        }
        defer { origin.stop() }
        let fetching = try Fetching()
        let first = try fetching.fetch("\(origin.url)/feed")
        #expect(first.body == feed(1) && first.report.coding == coding.token)
        _ = try fetching.fetch("\(origin.url)/feed")
        #expect(field("Available-Dictionary", of: origin.heads.last) == available(feed(1)))
    }
}
