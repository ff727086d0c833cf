internal import Dictionaries
internal import Foundation
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

private let first = Feed.bytes(version: 0, items: 300)
private let second = Feed.bytes(version: 1, items: 300)
private let ann = "Authorization: Bearer ann-s3cret-token"
private let bob = "Authorization: Bearer bob-s3cret-token"
private let secretPath = "/inbox/4711?folder=love-letters"

private let routes = """
    explain: true
    routes: [{match: /*, dictionary: {scope: private, identity: authorization, covers: url}}]
    """

/// Private routes as an operator runs them, judged by programs that are not ours.
@Suite(.timeLimit(.minutes(40))) struct PrivateRouteServedTests {
    /// Returns a proxy whose upstream sends the version that X-Version selects.
    private func served(in folder: TemporaryFolder, _ settings: String = routes) throws -> ServedProxy {
        let origin = try Origin { request, connection in
            let body = request["X-Version"] == "1" ? second : first
            connection.send(
                wire(
                    "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: private",
                    #"ETag: "tag-of-hers""#, body: body))
        }
        return try ServedProxy(origin, in: folder, settings)
    }

    /// The ids of the first version, by user.
    private let ids = Guarded<[String: String]>([:])

    /// Has a user fetch the first version, and keep its id.
    private func fetchFirst(_ proxy: ServedProxy, _ user: String) throws {
        let answer = try proxy.curl(secretPath, "-H", user)
        #expect(answer.carries(first))
        let field = try #require(answer.head["Use-As-Dictionary"])
        ids.withLock { $0[user] = UseAsDictionary.parse([field])?.id }
    }

    /// A proxy that has served Ann the first version, once its row is on disk.
    private func servedOnce(_ folder: TemporaryFolder) throws -> ServedProxy {
        let proxy = try served(in: folder)
        try fetchFirst(proxy, ann)
        try waitUntil("the sealed body is on disk") {
            try proxy.sqlite("SELECT count(*) FROM private_body") == "1"
        }
        try folder.write(first, to: "old")
        return proxy
    }

    private func delta(_ proxy: ServedProxy, _ coding: String, _ user: String, path: String = secretPath)
        throws
        -> CurlAnswer
    {
        let digest = Digest(of: first.span).base64
        // Users without an id send Ann's.
        let id = ids.withLock { $0[user] ?? $0[ann] } ?? ""
        return try proxy.curl(
            path, "-H", "Accept-Encoding: \(coding)", "-H", "Available-Dictionary: :\(digest):", "-H", user,
            "-H", "Dictionary-ID: \"\(id)\"", "-H", "X-Version: 1")
    }

    /// Asks until the response is a delta: a body that is not read from disk in time is left out of the response.
    private func awaitDelta(_ proxy: ServedProxy, _ coding: String, _ user: String) throws -> CurlAnswer {
        var answer = try delta(proxy, coding, user)
        try waitUntil("the dictionary is read: \(answer.head)") {
            if answer.head["Content-Encoding"] != coding { answer = try delta(proxy, coding, user) }
            return answer.head["Content-Encoding"] == coding
        }
        return answer
    }

    /// Decodes a delta over the first version with the coding's command-line program.
    private func decoded(_ answer: CurlAnswer, _ coding: String, in folder: TemporaryFolder) throws
        -> [UInt8]?
    {
        try folder.write(answer.body, to: "delta")
        let command =
            coding == "dcz"
            ? "tail -c +41 delta | zstd -dc -D old > new" : "tail -c +37 delta | brotli -dc -D old > new"
        let result = try RunningProcess.run(["-c", command], of: "/bin/bash", in: folder.path)
        #expect(result.status == 0)
        return folder.read("new")
    }

    @Test func `private dictionaries outlive a restart, for their identity alone`() throws {
        let folder = try TemporaryFolder()
        let before = try servedOnce(folder)
        #expect(try before.process.terminate().status == 0)
        let proxy = try served(in: folder)
        for coding in ["dcz", "dcb"] {
            // Bob comes first, so that no earlier request has read the body into memory.
            let other = try delta(proxy, coding, bob)
            #expect(other.carries(second))
            #expect(other.head["Dictum-Explain"]?.contains("dictionary-unknown") == true)
            let own = try awaitDelta(proxy, coding, ann)
            #expect(own.head["CDN-Cache-Control"] == "no-store")
            #expect(own.body.count * 20 < second.count)
            #expect(try decoded(own, coding, in: folder) == second)
            // That response stored the second version, so fetch the first one again.
            #expect(try proxy.curl(secretPath, "-H", ann).carries(first))
        }
    }

    @Test func `without any configuration an id is good after a restart, whatever the token is then`() throws
    {
        let folder = try TemporaryFolder()
        let before = try served(in: folder, "explain: true")
        try fetchFirst(before, ann)
        try waitUntil("the sealed body is on disk") {
            try before.sqlite("SELECT count(*) FROM private_body") == "1"
        }
        #expect(try before.process.terminate().status == 0)
        try folder.write(first, to: "old")
        let proxy = try served(in: folder, "explain: true")
        for coding in ["dcz", "dcb"] {
            let own = try awaitDelta(proxy, coding, "Authorization: Bearer rotated-token")
            #expect(try decoded(own, coding, in: folder) == second)
        }
        ids.withLock { $0 = [ann: "AAAAAAAAAAAAAAAAAAAAAA"] }
        let other = try delta(proxy, "dcz", ann)
        #expect(other.carries(second))
        #expect(other.head["Dictum-Explain"]?.contains("dictionary-unknown") == true)
    }

    @Test func `a second proxy on one store codes over what the first has written, for its identity alone`()
        throws
    {
        let folder = try TemporaryFolder()
        let settings = routes.replacing("covers: url", with: "covers: url, private_versions: 4")
        let writer = try served(in: folder, settings)
        try folder.write(first, to: "old")
        try fetchFirst(writer, ann)
        try waitUntil("the version is on disk") {
            try writer.sqlite("SELECT count(*) FROM private_version") == "1"
        }
        let reader = try served(in: folder, settings)
        try waitUntil("the second proxy has read the body") {
            try delta(reader, "dcz", ann).head["Content-Encoding"] == "dcz"
        }
        #expect(try decoded(delta(reader, "dcz", ann), "dcz", in: folder) == second)
        let stranger = try delta(reader, "dcz", bob)
        #expect(stranger.carries(second))
        #expect(stranger.head["Dictum-Explain"]?.contains("dictionary-unknown") == true)
    }

    @Test func `neither disk nor log holds a token, a body, its digest or where it was asked for`() throws {
        let folder = try TemporaryFolder()
        let proxy = try servedOnce(folder)
        #expect(try delta(proxy, "dcz", ann).head["Content-Encoding"] == "dcz")
        try waitUntil("the sealed version is on disk") {
            try proxy.sqlite("SELECT count(*) FROM private_version") == "1"
        }
        let digests = [first, second].map { Digest(of: $0.span) }
        let item = Array(first[100..<160])
        let secrets =
            [
                Array("s3cret".utf8), Array("inbox".utf8), Array("4711".utf8), Array("love-letters".utf8),
                Array("tag-of-hers".utf8), Array("api.test".utf8), item,
            ]
            + digests.flatMap {
                [$0.bytes, Array($0.hex.utf8), Array($0.base64.utf8), Array($0.base64URL.utf8)]
            }
        func check() {
            for name in ["store.sqlite", "store.sqlite-wal", "store.sqlite.key"] {
                guard let bytes = folder.read(name).map({ Data($0) }) else { continue }
                for (index, secret) in secrets.enumerated() {
                    #expect(bytes.range(of: Data(secret)) == nil, "\(index) in \(name)")
                }
            }
        }
        #expect((folder.read("store.sqlite-wal")?.count ?? 0) > first.count)
        check()
        let result = try proxy.process.terminate()
        check()
        #expect((folder.read("store.sqlite")?.count ?? 0) > first.count)
        let said = result.text + result.errors
        #expect(
            said.contains(#""target":"/inbox/4711?-""#), "the path is the operator's to see, the query is not"
        )
        for text in ["s3cret", "love-letters", "tag-of-hers"]
            + digests.flatMap({ [$0.hex, $0.base64, $0.base64URL] })
        {
            #expect(!said.contains(text))
        }
    }

    @Test func `key, database and log are this user's alone, and the log warns where they lie together`()
        throws
    {
        let folder = try TemporaryFolder()
        let proxy = try servedOnce(folder)
        let modes = try RunningProcess.run(
            ["-c", "stat -c '%a %n' store.sqlite*"], of: "/bin/bash", in: folder.path)
        #expect(
            modes.text == """
                600 store.sqlite
                600 store.sqlite-shm
                600 store.sqlite-wal
                600 store.sqlite.key
                600 store.sqlite.lock

                """)
        let errors = try proxy.process.terminate().errors
        #expect(errors.contains("store.sqlite.key lies beside the store"))
    }

    @Test
    func `with another key what was private is gone, and said once; routes without dictionaries make no key`()
        throws
    {
        let folder = try TemporaryFolder()
        let before = try servedOnce(folder)
        #expect(try before.process.terminate().status == 0)
        let key = try #require(folder.read("store.sqlite.key"))
        try FileManager.default.removeItem(atPath: folder.path + "/store.sqlite.key")
        let proxy = try served(in: folder)
        #expect(folder.read("store.sqlite.key") != key)
        #expect(try delta(proxy, "dcz", ann).carries(second))
        let errors = try proxy.process.terminate().errors
        #expect(errors.components(separatedBy: "removed 1 private dictionaries").count == 2)
        let other = try TemporaryFolder()
        let open = try served(in: other, "routes: [{match: /*, dictionary: off}]")
        #expect(try open.curl("/feed").carries(first))
        #expect(try open.process.terminate().status == 0)
        #expect(!other.names().contains("store.sqlite.key"))
    }

    @Test(arguments: [("short\n", "600", "is not one line of dictum-key-1"), (nil, "644", "chmod 600")])
    func `a key that cannot be used is a clear error, and nothing starts`(
        text: String?, mode: String, expected: String
    )
        throws
    {
        let folder = try TemporaryFolder()
        let before = try servedOnce(folder)
        #expect(try before.process.terminate().status == 0)
        if let text { try folder.write(Array(text.utf8), to: "store.sqlite.key") }
        try FileManager.default.setAttributes(
            [.posixPermissions: Int(mode, radix: 8) ?? 0], ofItemAtPath: folder.path + "/store.sqlite.key")
        let result = try RunningProcess.run(["serve", "--config", folder.path + "/dictum.yaml"])
        #expect(result.status == 1)
        #expect(result.errorLines.count == 1)
        #expect(result.errors.contains(expected))
        #expect(result.errors.contains("store.sqlite.key"))
        let check = try RunningProcess.run(["check", "--config", folder.path + "/dictum.yaml"])
        #expect(check.status == 78 && check.errorLines.count == 1)
        #expect(check.errors.hasPrefix("\(folder.path)/dictum.yaml:3:15: store.key_file: the key file "))
        #expect(check.errors.contains(expected))
    }

    @Test func `check makes no key, warns of one that its group may read, and asks for none without need`()
        throws
    {
        let folder = try TemporaryFolder()
        func check(_ settings: String, store: String = "") throws -> ProcessResult {
            let text = """
                upstream: {urls: ["http://127.0.0.1:9"]}
                store: {path: "\(folder.path)/store.sqlite"\(store)}
                \(settings)
                """
            try folder.write(Array(text.utf8), to: "dictum.yaml")
            return try RunningProcess.run(["check", "--config", folder.path + "/dictum.yaml"])
        }
        let missing = try check(routes)
        #expect(missing.status == 0 && missing.errors.isEmpty)
        let nowhere = try check(routes, store: ", key_file: \"\(folder.path)/nowhere/store.key\"")
        #expect(
            nowhere.status == 0
                && nowhere.errors.contains("nowhere does not exist: create it, or serve does not start"))
        let unused = try check("", store: ", key_file: \"\(folder.path)/nowhere/store.key\"")
        #expect(unused.errors.contains("or personal dictionaries last until the next start"))
        #expect(folder.names() == ["dictum.yaml"])
        let key = "dictum-key-1 " + Base64.encode([UInt8](repeating: 7, count: 32)) + "\n"
        for (text, mode) in [(key, 0o640), ("short\n", 0o600)] {
            try folder.write(Array(text.utf8), to: "store.sqlite.key")
            try FileManager.default.setAttributes(
                [.posixPermissions: mode], ofItemAtPath: folder.path + "/store.sqlite.key")
            let result = try check(text == key ? routes : "routes: [{match: /*, dictionary: off}]")
            #expect(result.status == 0)
            #expect(result.errors.contains("its group may read it") == (text == key))
        }
    }

    @Test
    func `where one URL's answers are covered, another's digest is of no use even to the same identity`()
        throws
    {
        let folder = try TemporaryFolder()
        let proxy = try servedOnce(folder)
        let answer = try delta(proxy, "dcz", ann, path: "/inbox/4711?folder=other")
        #expect(answer.head["Dictum-Explain"]?.contains("dictionary-unknown") == true)
    }
}
