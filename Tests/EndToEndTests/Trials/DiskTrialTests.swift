internal import Foundation
internal import TestSupport
internal import Testing

/// The store's disk fails while a client follows the feed, and recovers.
@Suite(.timeLimit(.minutes(40))) struct DiskTrialTests {
    private let folder: TemporaryFolder
    private let client = FeedClient(path: 3)

    init() throws { folder = try TemporaryFolder() }

    private func served(store: String? = nil, launcher: [String] = []) throws -> ServedProxy {
        try ServedProxy(
            ChangingFeed.origin(), in: folder, "explain: true", store: store, launcher: launcher)
    }

    // MARK: The cases

    @Test(.enabled(if: SmallDisk.isAllowed, "needs CAP_SYS_ADMIN or user namespaces, to mount a tmpfs"))
    func `a full disk costs durability until there is room`() throws {
        let disk = try SmallDisk(in: folder)
        let proxy = try served(store: "\(disk.path)/store.sqlite", launcher: disk.launcher)
        try follow(proxy, versions: 2)
        try disk.fill(proxy.process)
        try goesOn(proxy, saying: "full", "make room")
        try disk.empty(proxy.process)
        try recovers(
            proxy, store: "\(disk.path)/store.sqlite", seenBy: SmallDisk.entering(proxy.process))
        // The disk disappears with the process, so copy the files while it is stopped, as kill -9 would leave them.
        proxy.process.signal(SIGSTOP)
        for ending in ["", "-wal"] {
            let seen = disk.path(seenBy: proxy.process)
            try FileManager.default.copyItem(
                atPath: "\(seen)/store.sqlite\(ending)", toPath: "\(folder.path)/store.sqlite\(ending)")
        }
        try keptAll(after: proxy)
    }

    @Test func `a limit on the size of files costs durability until it is lifted`() throws {
        let proxy = try served(launcher: ["/bin/bash", "-c", #"trap '' XFSZ; exec "$@""#, "bash"])
        try follow(proxy, versions: 2)
        try limitFiles(of: proxy, to: "131072")
        try goesOn(proxy, saying: "I/O error", "make room")
        try limitFiles(of: proxy, to: "unlimited")
        try recovers(proxy, store: "\(folder.path)/store.sqlite")
        try keptAll(after: proxy)
    }

    @Test func `a folder that cannot be written costs durability until it can`() throws {
        try setMode(0o555)
        let proxy = try served(store: "\(folder.path)/own/store.sqlite", launcher: Self.boundByModes)
        try goesOn(proxy, saying: "Permission denied", "let this user write")
        try setMode(0o755)
        try recovers(proxy, store: "\(folder.path)/own/store.sqlite")
        try keptAll(after: proxy, store: "\(folder.path)/own/store.sqlite")
    }

    @Test func `a store that can no longer be written is used again once it can`() throws {
        try setMode(0o755)
        let store = "\(folder.path)/own/store.sqlite"
        let first = try served(store: store)
        try follow(first, versions: 2)
        #expect(try first.process.terminate().status == 0)
        try setMode(0o555)
        let proxy = try served(store: store, launcher: Self.boundByModes)
        // The proxy cannot read its store, so the client starts without a dictionary.
        let before = client.offered
        client.forget(after: .now, keeping: 0)
        try goesOn(proxy, saying: "Permission denied", "let this user write")
        try setMode(0o755)
        try recovers(proxy, store: store, beyond: before.count)
        try keptAll(after: proxy, store: store)
    }

    @Test func `a store that another process locks for long is written when it is free`() throws {
        let proxy = try served()
        try follow(proxy, versions: 2)
        let holder = try lock()
        try goesOn(proxy, saying: "locked", "`fuser` names it")
        holder.stop()
        try recovers(proxy, store: "\(folder.path)/store.sqlite")
        try keptAll(after: proxy)
    }

    @Test func `a store that is locked at the start joins what memory has when it is free`() throws {
        let first = try served()
        try follow(first, versions: 2)
        #expect(try first.process.terminate().status == 0)
        let before = client.offered
        client.forget(after: .now, keeping: 0)
        // In this mode other processes cannot even read.
        let holder = try lock("PRAGMA locking_mode = EXCLUSIVE")
        let proxy = try served()
        try goesOn(proxy, saying: "locked", "`fuser` names it")
        holder.stop()
        try recovers(proxy, store: "\(folder.path)/store.sqlite", beyond: before.count)
        try keptAll(after: proxy)
    }

    @Test func `SIGTERM ends the program with 0 while its store is locked`() throws {
        let proxy = try served()
        try follow(proxy, versions: 1)
        let holder = try lock()
        try follow(proxy, versions: 1)
        #expect(try proxy.process.terminate().status == 0)
        holder.stop()
    }

    // MARK: Expectations of all trials

    /// Follows the feed, and expects deltas that decode to the upstream's bodies.
    private func follow(_ proxy: ServedProxy, versions: Int) throws {
        let deltas = try client.follow(port: proxy.port, versions: versions)
        try #require(try ForeignJudge().faults(of: deltas) == [])
    }

    /// Expects that without its disk the proxy serves deltas from memory, logs the fault and its remedy, and counts it.
    private func goesOn(_ proxy: ServedProxy, saying words: String...) throws {
        try follow(proxy, versions: 4)
        let log = try proxy.process.waitFor("cannot be written")
        let line = try #require(log.split(separator: "\n").first { $0.contains("cannot be written") })
        for word in words + ["store.sqlite", "in memory only", #""level":"error""#] {
            #expect(line.contains(word))
        }
        #expect(try proxy.metric("dictum_store_write_errors_total") > 0)
        try follow(proxy, versions: 2)
        #expect(try proxy.metric("dictum_store_evictions_total") == 0)
    }

    /// Expects that the proxy writes everything once the disk works again, and logs that.
    private func recovers(
        _ proxy: ServedProxy, store: String, seenBy launcher: [String] = [], beyond older: Int = 0
    ) throws {
        _ = try proxy.process.waitFor("can be written again")
        for more in [0, 1] {
            try follow(proxy, versions: more)
            let expected = "\(client.offered.count + older)"
            let query = launcher + ["sqlite3", "-readonly", store, "SELECT count(*) FROM version"]
            try waitUntil("\(expected) versions are on disk") {
                try RunningProcess.run(query, of: "/usr/bin/env").text == expected + "\n"
            }
        }
    }

    /// Killed and started again, it has every dictionary that it offered.
    private func keptAll(after proxy: ServedProxy, store: String? = nil) throws {
        proxy.process.stop()
        try #require(try proxy.process.result().status == 128 + 9)
        let next = try served(store: store)
        let answers = try client.advertiseAll(port: next.port)
        #expect(answers.count == client.offered.count)
        #expect(try ForeignJudge().faults(of: answers) == [])
    }

    // MARK: Means

    private func limitFiles(of proxy: ServedProxy, to bytes: String) throws {
        let result = try RunningProcess.run(
            ["prlimit", "--pid", "\(proxy.process.pid)", "--fsize=\(bytes):unlimited"], of: "/usr/bin/env"
        )
        try #require(result.status == 0, "\(result.errors)")
    }

    /// Creates the store's folder, and sets the mode of the folder and its files.
    private func setMode(_ mode: Int) throws {
        let path = "\(folder.path)/own"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        // The key file keeps its mode, since a key that others may read is refused.
        let names = folder.names(in: "own").filter { !$0.hasSuffix(".key") }
        for path in [path] + names.map({ "\(path)/\($0)" }) {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }
    }

    /// Modes do not bind root, unless it has given up the right to pass over them.
    private static let boundByModes =
        geteuid() == 0
        ? ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--inh-caps", "-all"] : []

    /// Starts another process that holds the write lock until it is stopped.
    private func lock(_ mode: String = "SELECT 1") throws -> RunningProcess {
        let script = """
            import signal, sqlite3, sys
            database = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=300)
            database.execute(sys.argv[2])
            database.execute("BEGIN EXCLUSIVE")
            print("it holds the lock", flush=True)
            signal.pause()
            """
        let holder = try RunningProcess(
            ["-c", script, "\(folder.path)/store.sqlite", mode], of: "/usr/bin/python3")
        _ = try holder.waitFor("it holds the lock")
        return holder
    }
}
