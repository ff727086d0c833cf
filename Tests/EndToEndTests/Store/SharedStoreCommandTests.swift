internal import Foundation
internal import TestSupport
internal import Testing

/// `dictum store --shared` beside proxies that share through a real server.
@Suite(
    .enabled(if: RedisServer.program != nil, Comment(rawValue: RedisServer.absence)), .timeLimit(.minutes(40))
)
struct SharedStoreCommandTests {
    private struct Listing: Decodable {
        struct Version: Decodable {
            let authority: String
            let match: String
            let sha256: String
            let bytes: Int
        }
        let versions: [Version]
        let sealed_versions: Int
        let unannounced_versions: Int
    }

    private struct Fixture {
        let server: RedisServer
        let folder: TemporaryFolder
        let proxy: ServedProxy

        init(body: [UInt8]) throws {
            server = try RedisServer()
            folder = try TemporaryFolder()
            let origin = try Origin(
                wire(
                    "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: public, max-age=60",
                    body: body))
            proxy = try ServedProxy(
                origin, in: folder,
                store: "\(folder.path)/store.sqlite\", shared: \"unix://\(server.socket)")
            _ = try proxy.process.waitFor("connected")
        }

        func run(_ arguments: String...) throws -> ProcessResult { try run(arguments) }

        func run(_ arguments: [String]) throws -> ProcessResult {
            try RunningProcess.run(
                ["store"] + arguments + ["--shared", "--config", "\(folder.path)/dictum.yaml"])
        }

        func listing() throws -> Listing {
            try JSONDecoder().decode(Listing.self, from: Data(try run("list", "--json").output))
        }

        /// Returns the keys of the versions.
        func keys() throws -> [String] {
            try server.command("--raw", "KEYS", "*v:*").split(separator: "\n").map(String.init)
        }
    }

    @Test func `list names what a node has published, verify finds damage, and rm removes`() throws {
        let body = Array("{\"items\": [\(String(repeating: "\"abcdefgh\", ", count: 500)) 1]}".utf8)
        let fixture = try Fixture(body: body)
        #expect(try fixture.proxy.curl("/api/feed").body == body)
        try waitUntil("the version is published") { try !fixture.listing().versions.isEmpty }
        let version = try #require(try fixture.listing().versions.first)
        #expect(version.authority == "api.test" && version.match == "/api/feed")
        #expect(version.bytes == body.count)
        #expect(try fixture.run("list").text.contains(version.sha256))
        #expect(try fixture.run("list", "--path", "/other").text.hasPrefix("0 versions"))
        #expect(try fixture.run("verify").text.hasPrefix("1 version read"))

        let key = try #require(try fixture.keys().first)
        // The byte by which a value says that it is sealed; nodes remove one whose name is that of a public version.
        try fixture.server.command("SETRANGE", key, "3", "\u{1}")
        let mistaken = try fixture.run("verify")
        #expect(mistaken.status == 1 && mistaken.text.contains("damaged: \(key)"), "\(mistaken.text)")
        try fixture.server.command("SET", key, "DV2 of a newer release")
        #expect(try fixture.run("verify").text.contains("not read: 1"))
        try fixture.server.command("DEL", key)
        for write in [["SET", key, "garbage"], ["LPUSH", key, "of another type"]] {
            try fixture.server.command(words: write)
            let damaged = try fixture.run("verify")
            #expect(damaged.status == 1 && damaged.text.contains("damaged: \(key)"))
            #expect(try fixture.run("verify", "--repair").status == 0)
            #expect(try fixture.server.command("EXISTS", key) == "0")
        }
        #expect(try fixture.run("rm", version.sha256).status == 1)
        #expect(try fixture.run("rm", "--all", "--dry-run").text == "0 versions would be removed, 0 B\n")
        fixture.proxy.process.stop()
        #expect(try fixture.run("rm", "--all").status == 0)
        #expect(try fixture.server.command("DBSIZE") == "0")
    }

    @Test func `list reads a stream of announcements to its end, however long it is`() throws {
        let body = Feed.bytes(version: 0, items: 40)
        let fixture = try Fixture(body: body)
        let stream = "dictum:1:news"
        // A thousand entries are read at a time; these have nothing that this release knows.
        try fixture.server.command(
            "EVAL", "for i = 1, 1200 do redis.call('XADD', KEYS[1], '*', 'z', i) end return 1", "1", stream)
        #expect(try fixture.proxy.curl("/api/feed").carries(body))
        try waitUntil("the version is announced") {
            let count = Int(try fixture.server.command("XLEN", stream)) ?? 0
            return count > 1_200
        }
        try waitUntil("the version is listed") { try !fixture.listing().versions.isEmpty }
        #expect(try fixture.listing().unannounced_versions == 0)
    }

    @Test
    func `list counts sealed versions, and apart from them those that nothing announces, and rm takes all`()
        throws
    {
        let fixture = try Fixture(body: Feed.bytes(version: 0, items: 40))
        _ = try fixture.proxy.curl("/api/feed")
        try waitUntil("the version is published") { try !fixture.listing().versions.isEmpty }
        let (chain, digest) = (String(repeating: "A", count: 22), String(repeating: "A", count: 43))
        for name in ["kTAG:v:\(digest)", "kTAG:v:Z\(digest.dropFirst())", "v:\(chain):\(digest)"] {
            try fixture.server.command("SET", "dictum:1:\(name)", "value")
        }
        let listing = try fixture.listing()
        #expect(listing.versions.count == 1 && listing.sealed_versions == 2)
        #expect(listing.unannounced_versions == 1)
        let text = try fixture.run("list").text
        #expect(text.hasSuffix("1 version; not listed: 2 sealed versions; without an announcement: 1\n"))
        // What no node lists goes with the rest.
        let removal = try fixture.run("rm", "--all", "--dry-run").text
        #expect(removal.contains("\n4 versions would be removed, "), "\(removal)")
    }

    @Test func `list counts all versions, and rm takes them, however many there are`() throws {
        let fixture = try Fixture(body: Feed.bytes(version: 0, items: 40))
        // About a thousand keys are read at a time, and five hundred removed.
        let script = """
            for i = 1, 1200 do redis.call('SET', KEYS[1] .. string.format('%042dA', i), 'value') end return 1
            """
        try fixture.server.command("EVAL", script, "1", "dictum:1:kTAG:v:")
        #expect(try fixture.listing().sealed_versions == 1_200)
        let removal = try fixture.run("rm", "--all")
        #expect(removal.status == 0, "\(removal.errors)")
        #expect(try fixture.keys().isEmpty)
    }

    @Test func `purge ends with 1 if the shared store did not confirm, and says what went here`() throws {
        let fixture = try Fixture(body: Feed.bytes(version: 0, items: 40))
        _ = try fixture.proxy.curl("/api/feed")
        try waitUntil("the version is published") { try !fixture.listing().versions.isEmpty }
        func purge() throws -> ProcessResult {
            try RunningProcess.run(
                ["purge", "--config", "\(fixture.folder.path)/dictum.yaml", "--path", "/api/feed"])
        }
        try fixture.server.command("CONFIG", "SET", "maxmemory", "1")
        let untold = try purge()
        #expect(untold.status == 1 && untold.text.hasPrefix("1 version removed, "))
        #expect(untold.errors.contains("the shared store did not confirm"), "\(untold.errors)")
        try fixture.server.command("CONFIG", "SET", "maxmemory", "0")
        let told = try purge()
        #expect(told.status == 0 && told.text.hasSuffix("; the other nodes were told\n"), "\(told.text)")
    }

    private struct Removal: Decodable {
        let dry_run: Bool
        let removed_versions: Int
        let removed_bytes: Int
        let versions: [Listing.Version]
    }

    @Test func `rm takes the versions of one host only, and reports those as for a node's own store`() throws
    {
        let body = Array("{\"items\": [\(String(repeating: "\"abcdefgh\", ", count: 500)) 1]}".utf8)
        let fixture = try Fixture(body: body)
        for host in ["one.test", "two.test"] {
            let fetched = try RunningProcess.run(
                ["curl", "-sS", "-H", "Host: \(host)", fixture.proxy.url("/api/feed")], of: "/usr/bin/env")
            #expect(fetched.output == body)
        }
        try waitUntil("both versions are published") { try fixture.listing().versions.count == 2 }

        let both = try fixture.run("rm", "--path", "/api/feed")
        #expect(both.status == 1 && both.errors.contains("choose one with --host: one.test, two.test"))
        let unknown = try fixture.run("rm", "0000000000")
        #expect(unknown.status == 1 && unknown.errors.contains("has the digest 0000000000"))
        #expect(try fixture.listing().versions.count == 2)

        for isDryRun in [true, false] {
            let result = try fixture.run(
                ["rm", "--path", "/api/feed", "--host", "one.test", "--json"]
                    + (isDryRun ? ["--dry-run"] : []))
            let removal = try JSONDecoder().decode(Removal.self, from: Data(result.output))
            #expect(removal.dry_run == isDryRun && removal.removed_versions == 1)
            #expect(removal.removed_bytes == body.count && removal.versions.map(\.authority) == ["one.test"])
            #expect(removal.versions.map(\.match) == ["/api/feed"])
        }
        #expect(try fixture.listing().versions.map(\.authority) == ["two.test"])
    }

    @Test func `a server that is not there, and options that do not go together, are named`() throws {
        let folder = try TemporaryFolder()
        let text = """
            upstream: {urls: ["http://127.0.0.1:9"]}
            store: {shared: "unix:///nowhere/redis"}
            """
        try folder.write(Array(text.utf8), to: "dictum.yaml")
        let file = "\(folder.path)/dictum.yaml"
        let gone = try RunningProcess.run(["store", "list", "--shared", "--config", file])
        #expect(gone.status == 1 && gone.errors.contains("No such file"))
        let other = try RunningProcess.run(["store", "prune", "--shared", "--config", file])
        #expect(other.status == 64 && other.errors.contains("'--shared'"))
        let path = try RunningProcess.run(["store", "list", "--shared", "--store", "x"])
        #expect(path.status == 64 && path.errors.contains("--config"))
        let versions = try RunningProcess.run(["store", "list", "--shared", "--versions", "--config", file])
        #expect(versions.status == 64 && versions.errors.contains("--versions"))
        try folder.write(Array("upstream: {urls: [\"http://127.0.0.1:9\"]}\n".utf8), to: "dictum.yaml")
        let none = try RunningProcess.run(["store", "list", "--shared", "--config", file])
        #expect(none.status == 1 && none.errors.contains("no store.shared"))
    }
}
