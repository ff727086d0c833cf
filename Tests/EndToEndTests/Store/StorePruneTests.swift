internal import Dictionaries
internal import Foundation
internal import Proxy
internal import Storage
internal import TestSupport
internal import Testing

@testable internal import dictum

/// The versions that `dictum store prune` and `rm` choose, and their reports.
@Suite(.timeLimit(.minutes(40))) struct StorePruneTests {
    private struct Report: Decodable, Equatable {
        struct Version: Decodable, Equatable {
            let sha256: String
            let authority: String
            let url: String
            let bytes: Int
            let cause: String?
        }
        let isDryRun: Bool
        let count: Int
        let bytes: Int
        let versions: [Version]

        enum CodingKeys: String, CodingKey {
            case versions
            case isDryRun = "dry_run"
            case count = "removed_versions"
            case bytes = "removed_bytes"
        }
    }

    private let store: FilledStore
    private let now = Int(Date.now.timeIntervalSince1970)

    init() throws {
        store = try FilledStore()
    }

    /// Returns the JSON report of a command.
    private func report(_ command: String, _ arguments: String..., config: String? = nil) throws -> Report {
        let place = config.map { ["--config", $0] } ?? ["--store", store.path]
        let result = try RunningProcess.run(["store", command, "--json"] + arguments + place)
        try #require(result.status == 0, "\(result.errors)")
        return try JSONDecoder().decode(Report.self, from: Data(result.output))
    }

    /// Pins the versions that fulfil an SQL condition for an hour, as Links do.
    private func pin(_ condition: String) throws {
        try store.sqlite("UPDATE version SET pinned_until = \(now + 3600) WHERE \(condition)")
    }

    /// A configuration with settings of the store and routes.
    private func configuration(store settings: String, _ routes: String = "") throws -> String {
        let text = """
            upstream: {urls: ["http://127.0.0.1:9"]}
            store: {path: "\(store.path)", \(settings)}
            \(routes)

            """
        try store.folder.write(Array(text.utf8), to: "dictum.yaml")
        return store.folder.path + "/dictum.yaml"
    }

    // MARK: Pinned versions

    @Test func `what Links name stays until its time is over, however old it is`() throws {
        try store.admit([1], path: "/past", now: now - 900)
        try store.admit([2], path: "/named", now: now - 900)
        try store.admit([3], path: "/once", now: now - 900)
        try store.sqlite("UPDATE version SET max_age = 100")
        try pin("url = '/named'")
        try store.sqlite("UPDATE version SET pinned_until = \(now - 1) WHERE url = '/once'")
        let report = try report("prune", "--older-than", "5m")
        #expect(Set(report.versions.map(\.url)) == ["/past", "/once"])
        #expect(try store.sqlite("SELECT url FROM version") == "/named")
    }

    @Test func `what Links name stays on a route that is gone`() throws {
        try store.admit([1, 2], path: "/off")
        try store.admit([3, 4, 5], path: "/feed")
        try pin("etag IN ('tag1', 'tag3')")
        let file = try configuration(
            store: "max_size: 1GiB",
            "routes: [{match: /off, dictionary: off}, {match: /*}]")
        let report = try report("prune", "--unused-routes", config: file)
        #expect(report.versions.map(\.cause) == ["route"])
        #expect(
            try store.sqlite("SELECT group_concat(etag) FROM version ORDER BY 1") == "tag1,tag3,tag4,tag5")
    }

    @Test func `a chain of which Links name a version stays, and one in probation goes last`() throws {
        for (number, path) in [(1, "/named"), (2, "/old"), (3, "/probation"), (4, "/new")] {
            try store.admit([number], path: path, now: now - 100 + number)
        }
        try pin("url = '/named'")
        try store.sqlite("UPDATE chain SET established = 0 WHERE \"match\" = '/probation'")
        let file = try configuration(store: "max_chains: 2")
        let report = try report("prune", config: file)
        #expect(report.versions.map(\.url) == ["/old", "/probation"])
        #expect(report.versions.map(\.cause) == ["chains", "chains"])
    }

    @Test func `what a client wants while prune is at work stays`() throws {
        try store.admit([1], path: "/a", now: now - 900)
        try store.admit([2], path: "/b", now: now - 900)
        // So large that they go one by one; and the end of one is the moment at which the other is wanted.
        try store.sqlite(
            "UPDATE version SET size = 9000000; CREATE TRIGGER wanted AFTER DELETE ON version BEGIN "
                + "UPDATE version SET last_wanted = \(now); END")
        #expect(try report("prune", "--older-than", "5m").count == 1)
        #expect(try store.sqlite("SELECT count(*) FROM version") == "1")
    }

    @Test func `a private version goes by its route once no route makes any`() throws {
        let keys = try #require(StoreKeys(key: [UInt8](repeating: 1, count: StoreKeys.byteCount)))
        var settings = StoreConfiguration(path: ":memory:")
        settings.privateRows = .used(keys)
        let memory = try DictionaryStore(configuration: settings)
        defer { memory.close() }
        let ann = try #require(
            keys.identityTag(authority: "api.test", items: [(name: "authorization", value: [1])]))
        let chain = ChainKey(authority: "api.test", scope: .private(ann), match: "/feed")
        let version = try memory.admission.admit(
            VersionCandidate(
                FilledStore.body(1), key: VersionKey(chain: chain, url: "/feed", variant: ""),
                policy: AdmissionPolicy(), contentType: "application/json"), now: now)
        for (dictionary, causes) in [
            ("{scope: private, identity: authorization}", []), ("{personal: off}", ["route"]),
        ] as [(String, [String])] {
            let text = """
                upstream: {urls: ["http://127.0.0.1:9"]}
                routes: [{match: /*, dictionary: \(dictionary)}]
                """
            let pruning = StorePruning(
                now: now, removesUnusedRoutes: true,
                configuration: try Configuration.parse(Array(text.utf8)))
            #expect(pruning.victims(among: [version], usedBytes: 0).map(\.cause) == causes)
        }
    }

    // MARK: The order of max_size

    @Test func `max_size takes probation first, then what was wanted longest ago`() throws {
        try store.admit([1, 2, 3], path: "/old", now: now - 500)
        try store.admit([4, 5], path: "/feed", now: now - 300)
        try store.admit([6], path: "/probation", now: now)
        try store.admit([7], path: "/named", now: now - 700)
        try store.sqlite(
            "UPDATE chain SET established = 0 WHERE \"match\" = '/probation';"
                + "UPDATE body SET bytes = zeroblob(400000); UPDATE version SET size = 400000")
        try pin("url = '/named'")
        let file = try configuration(store: "max_size: 1MiB")
        let order = ["6", "1", "2", "3", "4"].compactMap(Int.init).map { FilledStore.body($0).digest.hex }
        let plan = try report("prune", "--dry-run", config: file)
        #expect(plan.versions.map(\.sha256) == order)
        #expect(plan.versions.map(\.cause) == ["probation", "size", "size", "size", "size"])
        #expect(try report("prune", config: file).versions == plan.versions)
        #expect(try store.sqlite("SELECT group_concat(etag) FROM version ORDER BY 1") == "tag5,tag7")
        #expect(try report("prune", config: file).count == 0)
    }

    @Test func `a command that has nothing to remove leaves the file as it is`() throws {
        try store.admit([1, 2], path: "/feed")
        try store.sqlite(
            "INSERT INTO body (bytes) VALUES (zeroblob(3000000)); DELETE FROM body WHERE length(bytes) > 2000000"
        )
        #expect(try report("prune").count == 0)
        #expect(try #require(store.folder.read("store.sqlite")).count > 3_000_000)
        #expect(try report("rm", "--path", "/feed").count == 2)
        #expect(try #require(store.folder.read("store.sqlite")).count < 1_000_000)
    }

    @Test func `the max_age of the present route ends what was kept for longer`() throws {
        try store.admit([1], path: "/feed", now: now - 7_000)
        try store.admit([2], path: "/other", now: now - 7_000)
        let file = try configuration(
            store: "max_size: 1GiB",
            "routes: [{match: /feed, dictionary: {max_age: 1h}}, {match: /*, dictionary: {max_age: 2d}}]")
        let plan = try report("prune", config: file)
        #expect(plan.versions.map(\.url) == ["/feed"] && plan.versions.map(\.cause) == ["age"])
    }

    @Test func `what goes by age makes room for the rest`() throws {
        try store.admit([1, 2, 3, 4], path: "/old", now: now - 5_000)
        try store.admit([5, 6], path: "/feed", now: now - 300)
        try store.sqlite("UPDATE body SET bytes = zeroblob(400000); UPDATE version SET size = 400000")
        let file = try configuration(store: "max_size: 1MiB, max_chains: 1")
        let plan = try report("prune", "--older-than", "30m", config: file)
        #expect(plan.versions.map(\.cause) == ["age", "age", "age", "age"])
        #expect(try store.sqlite("SELECT group_concat(etag) FROM version ORDER BY 1") == "tag5,tag6")
    }

    @Test func `what is free in the file is no reason to remove anything`() throws {
        try store.admit([1, 2], path: "/feed")
        try store.sqlite(
            "INSERT INTO body (bytes) VALUES (zeroblob(3000000)); DELETE FROM body WHERE length(bytes) > 2000000"
        )
        #expect(try #require(store.folder.read("store.sqlite")).count > 3_000_000)
        #expect(try report("prune", config: configuration(store: "max_size: 1MiB")).count == 0)
    }

    // MARK: The report

    @Test func `prune and rm say in JSON what went, or would go`() throws {
        try store.admit([1], path: "/past", now: now - 900)
        try store.admit([2], path: "/feed")
        let bytes = FilledStore.body(1).count
        let entry = Report.Version(
            sha256: FilledStore.body(1).digest.hex, authority: "api.test", url: "/past", bytes: bytes,
            cause: "age")
        #expect(
            try report("prune", "--older-than", "5m", "--dry-run")
                == Report(isDryRun: true, count: 1, bytes: bytes, versions: [entry]))
        #expect(
            try report("prune", "--older-than", "5m")
                == Report(isDryRun: false, count: 1, bytes: bytes, versions: [entry]))
        #expect(
            try report("prune", "--older-than", "5m")
                == Report(isDryRun: false, count: 0, bytes: 0, versions: []))
        let rest = try report("rm", "--all", "--dry-run")
        #expect(rest.isDryRun && rest.count == 1)
        let last = try report("rm", "--all")
        #expect(!last.isDryRun && last.versions.map(\.url) == ["/feed"] && last.versions.first?.cause == nil)
        #expect(try store.sqlite("SELECT count(*) FROM version") == "0")
    }

    // MARK: Room

    @Test func `a full store of max_size is pruned without passing it`() throws {
        let maxBytes = 2 << 20
        var settings = StoreConfiguration(path: store.path, maxBytes: maxBytes)
        settings.writeBytesPerSecond = 1 << 40
        let full = try DictionaryStore(configuration: settings)
        for number in 1...60 {
            var body = FilledStore.body(number).bytes
            body += Noise.bytes(90_000, seed: UInt64(number))
            try full.admission.admit(
                VersionCandidate(
                    Body(body),
                    key: VersionKey(
                        chain: ChainKey(authority: "api.test", match: "/\(number)"), url: "/\(number)",
                        variant: ""), policy: AdmissionPolicy(versions: 10, maxAge: 86_400),
                    contentType: "application/json"), now: now - 1000)
            #expect(full.upkeep.flush(timeoutSeconds: 60))
        }
        full.close()
        let file = try configuration(store: "max_size: 2MiB")
        let process = try RunningProcess([
            "store", "prune", "--json", "--older-than", "1m", "--config", file,
        ])
        var largest = 0
        try waitUntil("the end of the command") {
            let size = try? FileManager.default.attributesOfItem(atPath: store.path)[.size] as? Int
            largest = max(largest, size ?? 0)
            return kill(process.pid, 0) != 0
        }
        let result = try process.result()
        try #require(result.status == 0, "\(result.errors)")
        let report = try JSONDecoder().decode(Report.self, from: Data(result.output))
        #expect(report.count > 10)
        #expect(largest > maxBytes / 2 && largest <= maxBytes)
        #expect(try store.sqlite("SELECT count(*) FROM body") == "0")
    }
}
