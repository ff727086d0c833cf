internal import Dictionaries
internal import Foundation
internal import Storage
internal import TestSupport
internal import Testing

/// `dictum store` on a store that no proxy uses.
@Suite(.timeLimit(.minutes(40))) struct StoreCommandTests {
    private struct Listing: Decodable {
        struct Chain: Decodable, Equatable {
            let authority: String
            let match: String
            let versions: Int
            let bytes: Int
            let current: Int?
        }
        struct Version: Decodable {
            let sha256: String
            let url: String
            let etag: String
            let type: String
            let current: Bool?
        }
        struct Hidden: Decodable {
            let chains: Int
            let versions: Int
        }
        let chains: [Chain]?
        let versions: [Version]?
        let `private`: Hidden?
    }

    private func decoded(_ result: ProcessResult) throws -> Listing {
        try JSONDecoder().decode(Listing.self, from: Data(result.output))
    }

    @Test func `verify finds a changed body, exits with 1, and repairs on request`() throws {
        let store = try FilledStore()
        try store.admit([1, 2, 3])
        let intact = try store.run("verify")
        #expect(intact.status == 0 && intact.text == "3 bodies read, 1.2 KiB intact, 0 damaged\n")
        let damaged = FilledStore.body(2).digest.hex
        try store.sqlite(
            "UPDATE body SET bytes = zeroblob(length(bytes)) "
                + "WHERE id = (SELECT body FROM version WHERE digest = X'\(damaged)')")
        for arguments in [["verify"], ["verify", "--json"]] {
            let result = try RunningProcess.run(["store"] + arguments + ["--store", store.path])
            #expect(result.status == 1)
            #expect(result.text.contains(damaged) && result.text.contains("cannot be unpacked"))
        }
        #expect(try store.run("verify").text.hasSuffix("\n3 bodies read, 814 B intact, 1 damaged\n"))
        let export = try store.run("export", damaged)
        #expect(export.status == 1 && export.output.isEmpty)
        #expect(try store.run("verify", "--repair").status == 0)
        #expect(try store.run("verify").status == 0)
        #expect(try store.sqlite("SELECT count(*) FROM body") == "2")
    }

    @Test func `of two rows with one body the damaged one is found, and the sound one exported`() throws {
        let store = try FilledStore()
        for path in ["/a", "/b"] { try store.admit([1], path: path) }
        #expect(try store.sqlite("SELECT count(*), count(DISTINCT body) FROM version") == "2|1")
        // As two processes make them that do not know of each other.
        try store.sqlite(
            "INSERT INTO body (bytes) SELECT zeroblob(length(bytes)) FROM body;"
                + "UPDATE version SET body = (SELECT max(id) FROM body) WHERE url = '/a'")
        let result = try RunningProcess.run(["store", "verify", "--store", store.path])
        #expect(result.status == 1)
        #expect(result.text.contains("api.test/a") && !result.text.contains("api.test/b"))
        #expect(try store.run("export", FilledStore.body(1).digest.hex).output == FilledStore.body(1).bytes)
        #expect(try store.run("verify", "--repair").status == 0)
        #expect(try store.run("verify").status == 0)
        #expect(try store.sqlite("SELECT url FROM version") == "/b")
    }

    @Test func `chains are listed in a stable order with what is in them`() throws {
        let store = try FilledStore()
        try store.admit([1, 2], path: "/b")
        try store.admit([3], path: "/a")
        try store.admit([4], authority: "a.test", path: "/z")
        let listing = try decoded(store.run("list", "--json"))
        #expect(listing.chains?.map { $0.authority + $0.match } == ["a.test/z", "api.test/a", "api.test/b"])
        #expect(listing.chains?.map(\.versions) == [1, 1, 2])
        #expect(listing.chains?.first?.bytes == FilledStore.body(4).count)
        #expect(listing.private?.chains == 0)
        let lines = try store.run("list").text.split(separator: "\n")
        #expect(lines.count == 5)
        #expect(lines[0].hasPrefix("AUTHORITY  MATCH"))
        #expect(lines[4] == "3 chains, 4 versions, 1.6 KiB")
        #expect(try decoded(store.run("list", "--json", "--host", "A.test")).chains?.count == 1)
        #expect(try decoded(store.run("list", "--json", "--path", "/b")).chains?.map(\.versions) == [2])
        #expect(try store.run("list", "--path", "/none").text == "0 chains, 0 versions, 0 B\n")
    }

    @Test func `versions are listed the newest first, and shown by any form of their digest`() throws {
        let store = try FilledStore()
        try store.admit([1, 2, 3])
        let digests = [3, 2, 1].map { FilledStore.body($0).digest }
        let listing = try decoded(store.run("list", "--versions", "--json"))
        #expect(listing.versions?.map(\.sha256) == digests.map(\.hex))
        for form in [
            digests[0].hex, String(digests[0].hex.prefix(12)), ":\(digests[0].base64):", digests[0].base64URL,
        ] {
            let shown = try decoded(store.run("show", form, "--json"))
            #expect(shown.versions?.map(\.etag) == ["tag3"])
        }
        let text = try store.run("show", digests[0].hex).text
        #expect(
            text.contains("/feed") && text.contains("application/json")
                && text.contains(":\(digests[0].base64):"))
    }

    @Test func `versions are listed under their own title, and the newest of each chain first`() throws {
        let store = try FilledStore()
        try store.admit([1, 2], path: "/b")
        try store.admit([3, 4], path: "/a")
        let lines = try store.run("list", "--versions").text.split(separator: "\n")
        try #require(lines.count == 6, "\(lines)")
        #expect(lines[0].hasPrefix("DIGEST ") && lines[0].contains("  URL  "), "\(lines[0])")
        for (line, number) in zip(lines[1...4], [4, 3, 2, 1]) {
            #expect(line.hasPrefix("\(FilledStore.body(number).digest.hex.prefix(16)) "), "\(line)")
        }
        #expect(lines[5] == "2 chains, 4 versions, 1.6 KiB")
    }

    @Test func `a version that two arguments name is removed once`() throws {
        let store = try FilledStore()
        try store.admit([1, 2])
        let digest = FilledStore.body(1).digest
        let forms = [digest.hex, String(digest.hex.prefix(12)), digest.base64URL]
        for (plan, words) in [(["--dry-run"], "1 version would be removed"), ([], "1 version removed")] {
            let result = try RunningProcess.run(["store", "rm", "--store", store.path] + forms + plan)
            #expect(result.status == 0 && result.text.contains(words))
        }
        #expect(try store.sqlite("SELECT count(*) FROM version") == "1")
    }

    @Test func `export gives the exact bytes, to a file or to standard output`() throws {
        let store = try FilledStore()
        try store.admit([1])
        let body = FilledStore.body(1)
        #expect(try store.run("export", body.digest.hex).output == body.bytes)
        #expect(try store.run("export", body.digest.hex, "-o", "\(store.folder.path)/out").output.isEmpty)
        #expect(store.folder.read("out") == body.bytes)
        let full = try store.run("export", body.digest.hex, "-o", "/dev/full")
        #expect(full.status == 1 && full.errorLines.count == 1)
    }

    @Test func `what a terminal would act upon is not printed`() throws {
        let store = try FilledStore()
        try store.admit([1], path: "/a")
        try store.sqlite("UPDATE version SET url = '/a' || char(27) || '[2J'")
        #expect(try !store.run("list", "--versions").output.contains(27))
        #expect(try !store.run("show", FilledStore.body(1).digest.hex).output.contains(27))
    }

    @Test func `rows beside those of today's routes are told apart, and pruned on request`() throws {
        let store = try FilledStore()
        try store.admit([1, 2], path: "/feed")
        try store.admit([3], path: "/off")
        try store.admit([4], path: "/old", match: "/old?x")
        try store.admit([5], path: "/theirs", match: "/*", isUpstreamMatch: true)
        let file = try store.configuration("routes: [{match: /off, dictionary: off}, {match: /*}]")
        let listing = try decoded(RunningProcess.run(["store", "list", "--json", "--config", file]))
        let used = Dictionary(
            uniqueKeysWithValues: (listing.chains ?? []).map { ($0.match, $0.current) })
        #expect(used == ["/feed": 2, "/off": 0, "/old?x": 0, "/*": 1])
        let plan = try RunningProcess.run([
            "store", "prune", "--unused-routes", "--dry-run", "--config", file,
        ])
        #expect(plan.status == 0 && plan.text.contains("2 versions would be removed"))
        #expect(try store.sqlite("SELECT count(*) FROM version") == "5")
        let result = try RunningProcess.run(["store", "prune", "--unused-routes", "--config", file])
        #expect(result.status == 0 && result.text.contains("api.test/off"))
        #expect(try store.sqlite("SELECT \"match\" FROM chain ORDER BY 1") == "/*\n/feed")
    }

    @Test func `prune keeps to max_age, max_chains and --older-than`() throws {
        let now = Int(Date.now.timeIntervalSince1970)
        let store = try FilledStore()
        try store.admit([1], path: "/past", maxAge: 100, now: now - 101)
        try store.admit([2], path: "/week", now: now - 8 * 86_400)
        try store.sqlite("UPDATE version SET max_age = 8640000 WHERE url = '/week'")
        try store.admit(Array(10..<20), path: "/feed")
        #expect(try store.run("prune").text.contains("1 version removed"))
        #expect(try store.run("prune", "--older-than", "7d").text.contains("api.test/week"))
        try store.admit([30], path: "/newer", now: now + 5)
        let narrow = try store.configuration("").replacing("\n", with: "")
        try store.folder.write(
            Array(
                """
                upstream: {urls: ["http://127.0.0.1:9"]}
                store: {path: "\(store.path)", max_chains: 1}
                """.utf8), to: "dictum.yaml")
        _ = try RunningProcess.run(["store", "prune", "--config", narrow])
        #expect(try store.sqlite("SELECT \"match\" FROM chain") == "/newer")
    }

    @Test func `what was removed is no longer in any file, and its room is given back`() throws {
        let store = try FilledStore()
        try store.admit(Array(1...1000))
        let before = try #require(store.folder.read("store.sqlite")?.count)
        #expect(try store.run("rm", "--all").text.contains("1000 versions removed"))
        #expect(try store.sqlite("SELECT count(*) FROM body") == "0")
        #expect(try #require(store.folder.read("store.sqlite")?.count) < before / 2)
        for name in store.folder.names() {
            let text = String(decoding: store.folder.read(name) ?? [], as: UTF8.self)
            #expect(!text.contains("body 7 "), "\(name)")
        }
    }
}
