import DictumClient
import Foundation
import Testing

/// What a store keeps for all its users together.
@Suite struct StoreLimitTests {
    private let folder = ClientFolder()

    @Test
    func `the limit is that of all users together, and the least recently used goes, whosesoever it is`()
        async throws
    {
        let body = Data(repeating: 1, count: 400 << 10)
        let client = try folder.client(limit: .mebibytes(1))
        let (one, two) = (client.forUser("one"), client.forUser("two"))
        try await one.keep([("a", body)])
        try await two.keep([("b", body + [1])])
        #expect(try await one.held(["a"]) == ["a"])
        try await two.keep([("c", body + [2])])
        #expect(try await one.held(["a"]) == ["a"])
        #expect(try await two.held(["b", "c"]) == ["c"])
        for user in 0..<9 { try await client.forUser("\(user)").keep([("a", body)]) }
        #expect(folder.files(endingIn: ".dictum.body").count == 2)
    }

    @Test func `records count`() async throws {
        let client = try folder.client(limit: .mebibytes(1))
        let fields = [("Cache-Control", "max-age=600"), ("X-Long", String(repeating: "x", count: 60_000))]
        for version in 0..<30 {
            let match = "/\(version)"
            let server = ScriptedTransport([try response(feed(version), fields, match: match)])
            _ = try await client.data(from: feedURL, using: server)
        }
        let sizes = try folder.files(endingIn: "").map {
            try $0.resourceValues(forKeys: [.fileSizeKey, .isDirectoryKey])
        }
        let bytes = sizes.reduce(0) { $0 + ($1.isDirectory == true ? 0 : $1.fileSize ?? 0) }
        #expect(bytes <= 1 << 20 && bytes > 900_000)
    }

    @Test func `beyond a thousand dictionaries the oldest go, also users without any`() async throws {
        let client = try folder.client()
        try await client.keep([("a", feed(0))])
        let inside = try #require(folder.files(endingIn: ".dictum").first)
        for number in 0..<1_000 {
            for kind in ["json", "body"] {
                let file = inside.appendingPathComponent("\(number).dictum.\(kind)")
                try Data().write(to: file)
                let time = Date(timeIntervalSince1970: 1_000_000_000 + Double(number))
                try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: file.path)
            }
        }
        let empty = folder.url.appendingPathComponent("empty/1.dictum")
        try FileManager.default.createDirectory(at: empty, withIntermediateDirectories: true)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: empty.path)
        _ = try folder.client()
        #expect(folder.files(endingIn: "empty").isEmpty)
        let left = Set(folder.files(endingIn: ".dictum.body").map(\.lastPathComponent))
        #expect(left.count == 1_000 && !left.contains("0.dictum.body") && left.contains("1.dictum.body"))
        #expect(try await client.held(["a"]) == ["a"])
    }

    @Test func `halves of dictionaries and temporary files go once they are older than a minute`()
        async throws
    {
        try await folder.client().keep([("a", feed(0))])
        let inside = try #require(folder.files(endingIn: ".dictum").first)
        for name in ["x.dictum.json", "y.dictum.body", "z.dictum.part"] {
            for age in [50.0, 70] {
                let file = inside.appendingPathComponent("\(age)-\(name)")
                try Data().write(to: file)
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: file.path)
            }
        }
        try Data().write(to: inside.appendingPathComponent("70.0-package.json"))
        _ = try folder.client()
        let left = try FileManager.default.contentsOfDirectory(atPath: inside.path)
        #expect(left.filter { $0.hasPrefix("70") } == ["70.0-package.json"])
        #expect(left.filter { $0.hasPrefix("50") }.count == 3)
    }

    @Test func `folders of others are left alone, also when all users' go`() async throws {
        try FileManager.default.createDirectory(
            at: folder.url.appendingPathComponent("others/2024"), withIntermediateDirectories: true)
        try Data().write(to: folder.url.appendingPathComponent("others/2024/x.dictum.json"))
        let store = try ClientStore.persistent(at: folder.url, limit: .mebibytes(1))
        try await DictionaryClient(store: store).keep([("a", feed(0))])
        await store.removeAll()
        #expect(
            folder.files(endingIn: "").map(\.lastPathComponent).sorted() == [
                "2024", "others", "x.dictum.json",
            ])
    }

    @Test func `a dictionary of the app may have as many bytes as any, and a larger one is refused`()
        async throws
    {
        let file = folder.url.appendingPathExtension("json")
        defer { try? FileManager.default.removeItem(at: file) }
        try feed(0).write(to: file)
        let store = try ClientStore.persistent(at: folder.url, limit: .mebibytes(8))
        var options = DictionaryClient.Options()
        options.dictionaryBytesMax = feed(0).count - 1
        let strict = DictionaryClient(store: store, options: options)
        await #expect(throws: DictionaryClientError.notPreloaded("too large")) {
            try await strict.preload(file, match: "/a", from: feedURL)
        }
        #expect(try await strict.held(["a"]) == [])
        options.dictionaryBytesMax = feed(0).count
        let client = DictionaryClient(store: store, options: options)
        try await client.preload(file, match: "/a", from: feedURL)
        #expect(try await client.held(["a"]) == ["a"])
    }

    @Test func `of many users only the latest have their records in memory`() async throws {
        let store = try ClientStore.persistent(at: folder.url, limit: .mebibytes(1))
        let first = store.dictionaries(of: "0")
        for user in 1..<32 { _ = store.dictionaries(of: "\(user)") }
        let isKnown = store.dictionaries(of: "0") === first
        for user in 1...32 { _ = store.dictionaries(of: "\(user)") }
        let isForgotten = store.dictionaries(of: "0") !== first
        #expect(isKnown && isForgotten)
    }

    @Test func `what a killed process had begun or removed goes at the next start`() async throws {
        try await folder.client().keep([("a", feed(0))])
        for (name, age) in [("x.dictum.removed", 0.0), ("y.dictum.part", 70), ("z.dictum.part", 50)] {
            let left = folder.url.appendingPathComponent(name)
            try FileManager.default.createDirectory(
                at: left.appendingPathComponent("1.dictum"), withIntermediateDirectories: true)
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: left.path)
        }
        #expect(try await folder.client().held(["a"]) == ["a"])
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(left.sorted() == ["nobody", "z.dictum.part"])
    }

    @Test func `what another process uses while the limit is applied does not go`() async throws {
        let body = Data(repeating: 1, count: 400 << 10)
        let client = try folder.client(limit: .mebibytes(1))
        try await client.keep([("a", body), ("b", body + [1])])
        let used = try #require(folder.files(endingIn: ".dictum.body").max { $0.path < $1.path })
        // A moment behind the beginning of the next look.
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: 20)], ofItemAtPath: used.path)
        try await client.keep([("c", body + [2])])
        #expect(folder.files(endingIn: ".dictum.body").map(\.path).contains(used.path))
    }

    @Test func `after the clock was set back the times of before are older than all others`() async throws {
        let body = Data(repeating: 1, count: 400 << 10)
        let client = try folder.client(limit: .mebibytes(1))
        try await client.keep([("a", body), ("b", body + [1])])
        for file in folder.files(endingIn: ".dictum.body") {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: 1000)], ofItemAtPath: file.path)
        }
        try await client.keep([("c", body + [2])])
        #expect(try await client.held(["c"]) == ["c"])
    }
}
