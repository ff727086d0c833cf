internal import Dictionaries
internal import Foundation
internal import HTTP
internal import TestSupport
internal import Testing

@testable internal import dictum

/// The dictionaries on the disk: across processes, damage, expiry, validation and limits.
@Suite struct FetchCacheTests {
    /// Returns an origin of one dictionary with a validator, which responds with 304 and those fields to a match.
    private static func origin(notModified fields: [String]) throws -> Origin {
        try Origin.closing { head in
            if field("If-None-Match", of: head) == "W/\"one\"" {
                return Wire.answer("304 Not Modified", fields)
            }
            return Wire.ok(
                #"Use-As-Dictionary: match="/feed", id="a""#, "Cache-Control: max-age=60", "ETag: W/\"one\"",
                body: feed(1))
        }
    }

    @Test(.timeLimit(.minutes(40)))
    func `an expired dictionary is not offered but asked about, and a 304 revives it`() throws {
        let origin = try Self.origin(notModified: ["Cache-Control: max-age=60", "ETag: W/\"one\""])
        defer { origin.stop() }
        let fetching = try Fetching()
        _ = try fetching.fetch("\(origin.url)/feed")
        try fetching.expireAll()
        let second = try fetching.fetch("\(origin.url)/feed")
        #expect(field("Available-Dictionary", of: origin.heads.last) == nil)
        #expect(second.body == feed(1))
        #expect(second.report.status == 304 && second.report.revalidated && second.report.stored)
        #expect(second.report.wire_bytes == 0 && second.report.body_bytes == feed(1).count)
        _ = try fetching.fetch("\(origin.url)/feed")
        #expect(field("Available-Dictionary", of: origin.heads.last) == available(feed(1)))
        // Values that the 304 does not give stay: the id and the validator.
        #expect(field("Dictionary-ID", of: origin.heads.last) == "\"a\"")
        #expect(field("If-None-Match", of: origin.heads.last) == "W/\"one\"")
    }

    @Test(.timeLimit(.minutes(40)))
    func `a fresh dictionary is offered and asked about, and a 304 gives its body`() throws {
        let origin = try Self.origin(notModified: ["Cache-Control: max-age=60"])
        defer { origin.stop() }
        let fetching = try Fetching()
        _ = try fetching.fetch("\(origin.url)/feed")
        let second = try fetching.fetch("\(origin.url)/feed")
        #expect(field("Available-Dictionary", of: origin.heads.last) == available(feed(1)))
        #expect(field("If-None-Match", of: origin.heads.last) == "W/\"one\"")
        #expect(second.body == feed(1) && second.report.revalidated && second.report.stored)
    }

    @Test(
        .timeLimit(.minutes(40)),
        arguments: ["If-None-Match: W/\"one\"", "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"])
    func `a condition of the user is the only one, and its 304 is theirs`(condition: String) throws {
        let origin = try Origin.closing { head in
            field("If-None-Match", of: head) != nil || field("If-Modified-Since", of: head) != nil
                ? Wire.answer("304 Not Modified")
                : Wire.ok(
                    #"Use-As-Dictionary: match="/feed""#, "Cache-Control: max-age=60", "ETag: W/\"two\"",
                    body: feed(1))
        }
        defer { origin.stop() }
        let fetching = try Fetching()
        _ = try fetching.fetch("\(origin.url)/feed")
        let second = try fetching.fetch("\(origin.url)/feed", "-H", condition)
        #expect(second.report.status == 304 && !second.report.revalidated && second.body.isEmpty)
        #expect(origin.heads.last?.contains("W/\"two\"") == false)
        #expect(fetching.kept.count == 2)
    }

    @Test(.timeLimit(.minutes(40)), arguments: ["Accept-Language", "User-Agent", "Accept"])
    func `what came for other values of the fields in Vary is not asked about`(name: String) throws {
        let origin = try Origin.closing { head in
            // All forms have one tag, as many servers make it of the version of a record.
            field("If-None-Match", of: head) != nil
                ? Wire.answer("304 Not Modified", ["Cache-Control: max-age=60"])
                : Wire.ok(
                    #"Use-As-Dictionary: match="/feed""#, "Cache-Control: max-age=60", "ETag: W/\"one\"",
                    "Vary: Accept-Encoding, \(name)", body: feed(field(name, of: head) == "de" ? 2 : 1))
        }
        defer { origin.stop() }
        let fetching = try Fetching()
        func fetch(_ arguments: String...) throws -> (isRevalidated: Bool, body: [UInt8]) {
            let (report, body) = try fetching.fetch("\(origin.url)/feed", arguments: arguments)
            return (report.revalidated, body)
        }
        #expect(try fetch("-H", "\(name): en") == (false, feed(1)))
        #expect(try fetch("-H", "\(name): de") == (false, feed(2)))
        #expect(try fetch("-H", "\(name): de") == (true, feed(2)))
        // A 304 does not repeat Vary.
        #expect(try fetch("-H", "\(name): de", "--accept", "dcz") == (true, feed(2)))
        #expect(try fetch() == (false, feed(1)))
        #expect(try fetch() == (true, feed(1)))
    }

    @Test(.timeLimit(.minutes(40)))
    func `a 304 without a lifetime renews the one that was`() throws {
        let origin = try Self.origin(notModified: [])
        defer { origin.stop() }
        let fetching = try Fetching()
        _ = try fetching.fetch("\(origin.url)/feed")
        try fetching.expireAll()
        #expect(try fetching.fetch("\(origin.url)/feed").report.stored)
        _ = try fetching.fetch("\(origin.url)/feed")
        #expect(field("Available-Dictionary", of: origin.heads.last) == available(feed(1)))
    }

    @Test(.timeLimit(.minutes(40)))
    func `a 304 with no-store ends the dictionary`() throws {
        let origin = try Self.origin(notModified: ["Cache-Control: no-store"])
        defer { origin.stop() }
        let fetching = try Fetching()
        _ = try fetching.fetch("\(origin.url)/feed")
        try fetching.expireAll()
        let second = try fetching.fetch("\(origin.url)/feed")
        #expect(second.body == feed(1) && !second.report.stored)
        #expect(!fetching.kept.contains { $0.hasSuffix(".json") })
    }

    @Test(.timeLimit(.minutes(40)))
    func `a 304 with the tag of another body confirms nothing, and the request is sent again`() throws {
        let origin = try Self.origin(notModified: ["ETag: \"two\""])
        defer { origin.stop() }
        let fetching = try Fetching()
        _ = try fetching.fetch("\(origin.url)/feed")
        let second = try fetching.fetch("\(origin.url)/feed")
        #expect(second.body == feed(1) && second.report.status == 200 && second.report.stored)
        #expect(origin.heads.map { field("If-None-Match", of: $0) } == [nil, "W/\"one\"", nil])
    }

    @Test(.timeLimit(.minutes(40)))
    func `a dictionary that a 304 does not know is dropped, although nothing takes its place`() throws {
        let offer = Wire.ok(
            #"Use-As-Dictionary: match="/feed""#, "Cache-Control: max-age=60", "ETag: \"one\"", body: feed(1))
        let origin = try Origin([
            offer, Wire.answer("304 Not Modified", ["ETag: \"two\""]), Wire.ok(body: feed(2)),
        ])
        defer { origin.stop() }
        let fetching = try Fetching()
        #expect(try fetching.fetch("\(origin.url)/feed").report.stored && fetching.kept.count == 2)
        let second = try fetching.fetch("\(origin.url)/feed")
        #expect(second.body == feed(2) && !second.report.stored && origin.requests.count == 3)
        #expect(fetching.kept.isEmpty)
    }

    @Test(.timeLimit(.minutes(40)))
    func `of a request with no-store nothing is stored, and what is held stays`() throws {
        let origin = try Self.origin(notModified: [])
        defer { origin.stop() }
        let fetching = try Fetching()
        let (url, field) = ("\(origin.url)/feed", "Cache-Control: no-store")
        #expect(try !fetching.fetch(url, "-H", field).report.stored && fetching.kept.isEmpty)
        _ = try fetching.fetch(url)
        #expect(try !fetching.fetch(url, "-H", field).report.stored && fetching.kept.count == 2)
    }

    // The second reaches this machine, but is no name of it, so that its http is not secure.
    @Test(.timeLimit(.minutes(40)), arguments: ["127.0.0.1", "0.0.0.0"])
    func `a response that clears the cookies ends the dictionaries of these credentials`(host: String) throws
    {
        let origin = try Origin.closing { head in
            let clearing = head.hasPrefix("GET /logout") ? ["Clear-Site-Data: \"cookies\""] : []
            return Wire.answer(
                "200 OK", [#"Use-As-Dictionary: match="/*""#, "Cache-Control: max-age=60"] + clearing,
                body: feed(1))
        }
        defer { origin.stop() }
        let fetching = try Fetching()
        for path in ["feed", "logout"] {
            let url = "http://\(host):\(origin.port)/\(path)"
            let isStored = try fetching.fetch(url).report.stored
            #expect(isStored == (path == "feed") && fetching.kept.isEmpty == (path == "logout"))
        }
    }

    @Test(.timeLimit(.minutes(40)), arguments: [".dictum.body", ".dictum.json"])
    func `a damaged file counts as not there and is removed`(ending: String) throws {
        let origin = try Self.origin(notModified: [])
        defer { origin.stop() }
        let fetching = try Fetching()
        _ = try fetching.fetch("\(origin.url)/feed")
        let name = try #require(fetching.kept.first { $0.hasSuffix(ending) })
        try fetching.folder.write(Array("x".utf8), to: "\(fetching.keptFolder)/\(name)")
        let again = try fetching.fetch("\(origin.url)/feed", "--accept", "dcz")
        #expect(again.body == feed(1) && again.report.stored)
        #expect(field("Available-Dictionary", of: origin.heads.last) == nil)
        _ = try fetching.fetch("\(origin.url)/feed")
        #expect(field("Available-Dictionary", of: origin.heads.last) == available(feed(1)))
    }

    @Test(.timeLimit(.minutes(40)))
    func `files of others in the folder are left alone`() throws {
        let origin = try Self.origin(notModified: [])
        defer { origin.stop() }
        let fetching = try Fetching()
        try FileManager.default.createDirectory(
            atPath: "\(fetching.folder.path)/\(Fetching.nobody)", withIntermediateDirectories: true)
        try fetching.folder.write(Array("{}".utf8), to: "\(Fetching.nobody)/package.json")
        _ = try fetching.fetch("\(origin.url)/feed")
        _ = try fetching.fetch("\(origin.url)/feed")
        #expect(fetching.folder.read("\(Fetching.nobody)/package.json") == Array("{}".utf8))
        #expect(fetching.kept.count == 2)
    }

    @Test(.timeLimit(.minutes(40)))
    func `a cache that cannot be written is a warning and no failure`() throws {
        let origin = try Self.origin(notModified: [])
        defer { origin.stop() }
        let fetching = try Fetching()
        try fetching.folder.write([], to: "cache")
        let result = try fetching.run("\(origin.url)/feed")
        #expect(result.status == 0 && result.output == feed(1))
        #expect(result.errors.contains("dictum: cannot keep dictionaries in "))
    }

    @Test(.timeLimit(.minutes(40)), arguments: ["", "relative"])
    func `without the path of a home there is no default folder, and nothing is sent`(home: String) throws {
        let origin = try Origin.closing { _ in Wire.ok(body: feed(1)) }
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let result = try RunningProcess.run(
            ["fetch", "\(origin.url)/feed"], in: folder.path,
            environment: ["HOME": home, "XDG_CACHE_HOME": "also/relative"])
        #expect(result.status == 1 && result.errors.contains("give --cache FOLDER"), "\(result.errors)")
        #expect(origin.heads.isEmpty && folder.names().isEmpty)
    }

    @Test(.timeLimit(.minutes(40)))
    func `the default folder is that of the XDG specification`() throws {
        let origin = try Self.origin(notModified: [])
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let arguments = ["fetch", "\(origin.url)/feed", "-o", "/dev/null"]
        for environment in [
            ["XDG_CACHE_HOME": "\(folder.path)/xdg"], ["XDG_CACHE_HOME": "", "HOME": folder.path],
        ] {
            let result = try RunningProcess.run(arguments, environment: environment)
            #expect(result.status == 0)
        }
        #expect(folder.names(in: "xdg/dictum/nobody").count == 1)
        #expect(folder.names(in: ".cache/dictum/nobody").count == 1)
    }

    @Test(
        .timeLimit(.minutes(40)),
        arguments: [
            ["-H", "Authorization: Bearer one"], ["--cookie", "sid=one"], ["-H", "Cookie: sid=one"],
            ["-H", "X-API-Key: one"], ["-H", "x-unheard-of: one", "-H", "Accept: text/x"],
            ["-H", "Host: one.test"],
        ])
    func `fields that may be credentials have dictionaries of their own`(credentials: [String]) throws {
        let origin = try Self.origin(notModified: [])
        defer { origin.stop() }
        let fetching = try Fetching()
        let others = credentials.map { $0.replacing("one", with: "two") }
        for arguments in [credentials, others, [], credentials] {
            _ = try fetching.fetch("\(origin.url)/feed", arguments: arguments)
        }
        let named = origin.heads.map { field("Available-Dictionary", of: $0) }
        #expect(named == [nil, nil, nil, available(feed(1))])
        #expect(field("Dictionary-ID", of: origin.heads.last) == "\"a\"")
        #expect(!fetching.folder.names(in: "cache").contains { $0.contains("one") })
    }

    @Test(.timeLimit(.minutes(40)))
    func `fields that say what is wanted share dictionaries`() throws {
        let origin = try Self.origin(notModified: [])
        defer { origin.stop() }
        let fetching = try Fetching()
        _ = try fetching.fetch("\(origin.url)/feed", "-H", "Accept: text/x", "-H", "user-agent: one")
        _ = try fetching.fetch(
            "\(origin.url)/feed", "-H", "Cache-Control: no-cache", "-H", "Accept-Language: de")
        #expect(field("Available-Dictionary", of: origin.heads.last) == available(feed(1)))
    }
}
