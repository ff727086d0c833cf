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
        #expect(field("If-None-Match", of: origin.heads.last) == nil)
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
        #expect(!fetching.folder.names(in: "cache").contains { $0.hasSuffix(".json") })
    }

    @Test(.timeLimit(.minutes(40)), arguments: [".dictum.body", ".dictum.json"])
    func `a damaged file counts as not there and is removed`(ending: String) throws {
        let origin = try Self.origin(notModified: [])
        defer { origin.stop() }
        let fetching = try Fetching()
        _ = try fetching.fetch("\(origin.url)/feed")
        let name = try #require(fetching.folder.names(in: "cache").first { $0.hasSuffix(ending) })
        try fetching.folder.write(Array("x".utf8), to: "cache/\(name)")
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
            atPath: "\(fetching.folder.path)/cache", withIntermediateDirectories: false)
        try fetching.folder.write(Array("{}".utf8), to: "cache/package.json")
        _ = try fetching.fetch("\(origin.url)/feed")
        _ = try fetching.fetch("\(origin.url)/feed")
        #expect(fetching.folder.read("cache/package.json") == Array("{}".utf8))
        #expect(fetching.folder.names(in: "cache").count == 3)
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
        #expect(folder.names(in: "xdg/dictum").count == 2)
        #expect(folder.names(in: ".cache/dictum").count == 2)
    }

    @Test func `beyond the limits the oldest go, and what is too large is not kept`() throws {
        let folder = try TemporaryFolder()
        var cache = DictionaryCache(directory: folder.path)
        cache.totalBytesMax = 250
        cache.dictionaryBytesMax = 200
        for number in 1...4 {
            let body = Body([UInt8](repeating: UInt8(number), count: number == 4 ? 201 : 100))
            let record = CachedDictionary(
                url: "http://a/\(number)", match: "/\(number)", matchDest: [], id: "",
                digest: body.digest.hex,
                bytes: body.count, etag: nil, storedAt: Int64(number), usableSeconds: 60, expiresAt: 2000)
            #expect(try cache.store(record, body) == (number != 4))
        }
        let found = try (1...4).map { cache.best(for: try FetchURL("http://a/\($0)"), at: 1000) != nil }
        #expect(found == [false, true, true, false])
        let expired = try FetchURL("http://a/2")
        #expect(cache.best(for: expired, at: 2000) == nil && cache.own(of: expired) != nil)
    }
}
