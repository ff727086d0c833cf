import Dictionaries
import DictumClient
import Foundation
import FoundationNetworking
import Glibc
import Testing

/// Files that cannot be read or written.
@Suite struct StoreFaultTests {
    private let folder = ClientFolder()

    @Test(arguments: ["body", "json"], [true, false])
    func `a file that cannot be read now is left alone, and counts again when it can be`(
        kind: String, isNewProcess: Bool
    ) async throws {
        var client = try folder.client()
        try await client.keep([("a", feed(0))])
        let file = try #require(folder.files(endingIn: ".dictum.\(kind)").first)
        // A link without its target can be read by nobody, also not by root, until the target is there.
        let (away, back) = (
            folder.url.appendingPathComponent("away"), folder.url.appendingPathComponent("back")
        )
        try FileManager.default.moveItem(at: file, to: away)
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: back)
        try folder.settle()
        if isNewProcess { client = try folder.client() }
        #expect(try await client.held(["a"]) == [])
        try FileManager.default.moveItem(at: away, to: back)
        #expect(try await client.held(["a"]) == ["a"])
        #expect(try await folder.client().held(["a"]) == ["a"])
    }

    @Test(arguments: [10_413_792_000, -1] as [Double])
    func `a file whose time no number of nanoseconds has is a file as others`(seconds: Double) async throws {
        let client = try folder.client()
        try await client.keep([("a", feed(0)), ("b", feed(1))])
        let files = folder.files(endingIn: ".dictum.json") + folder.files(endingIn: ".dictum.body")
        for file in files {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: seconds)], ofItemAtPath: file.path)
        }
        #expect(try await folder.client().held(["a", "b"]) == ["a", "b"])
    }

    /// Returns the folder of a process, which its parent finds by its own id.
    private static func folder(_ test: String, of parent: pid_t) -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent("dictum-client-\(test)-\(parent)")
    }

    /// Limits this process; exceeding the limit is an error, and no signal.
    private static func limit(_ resource: __rlimit_resource, to count: UInt) {
        var limit = rlimit(rlim_cur: count, rlim_max: count)
        signal(SIGXFSZ, SIG_IGN)
        guard unsafe setrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0 else { exit(2) }
    }

    @Test func `without descriptors nothing is held, and nothing lost`() async throws {
        defer { try? FileManager.default.removeItem(at: Self.folder("descriptors", of: getpid())) }
        await #expect(processExitsWith: .success) {
            let url = Self.folder("descriptors", of: getppid())
            let store = try ClientStore.persistent(at: url, limit: .mebibytes(1))
            let client = DictionaryClient(store: store)
            try await client.keep([("a", feed(0))])
            let inside = try FileManager.default.contentsOfDirectory(atPath: "\(url.path)/nobody")[0]
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -100)],
                ofItemAtPath: "\(url.path)/nobody/\(inside)")
            let fresh = DictionaryClient(store: try .persistent(at: url, limit: .mebibytes(1)))
            Self.limit(RLIMIT_NOFILE, to: 256)
            var taken: [Int32] = []
            while case let descriptor = dup(0), descriptor >= 0 { taken.append(descriptor) }
            for each in [client, fresh] where try await each.held(["a"]) != [] { exit(3) }
            for each in [client, fresh] { try await each.keep([("b", feed(1))]) }
            _ = try ClientStore.persistent(at: url, limit: .mebibytes(1))
            for descriptor in taken { close(descriptor) }
            for each in [client, fresh] where try await each.held(["a", "b"]) != ["a"] { exit(4) }
            let names = try FileManager.default.contentsOfDirectory(atPath: "\(url.path)/nobody")
            if names != [inside] { exit(5) }
        }
    }

    @Test func `a body that breaks off because the disk is full leaves nothing`() async throws {
        let url = Self.folder("full", of: getpid())
        defer { try? FileManager.default.removeItem(at: url) }
        await #expect(processExitsWith: .success) {
            let url = Self.folder("full", of: getppid())
            let client = DictionaryClient(store: try .persistent(at: url, limit: .mebibytes(1)))
            Self.limit(RLIMIT_FSIZE, to: 100_000)
            try await client.keep([("a", Data(repeating: 1, count: 200_000))])
        }
        let left = FileManager.default.enumerator(atPath: url.path)?.compactMap { $0 as? String }
        #expect(left?.filter { $0.contains(".dictum.") } == [])
    }

    @Test func `what a 304 confirms stays as it was if the disk is full`() async throws {
        defer { try? FileManager.default.removeItem(at: Self.folder("confirmed", of: getpid())) }
        await #expect(processExitsWith: .success) {
            let url = Self.folder("confirmed", of: getppid())
            let client = DictionaryClient(store: try .persistent(at: url, limit: .mebibytes(1)))
            let fields = [("Cache-Control", "max-age=600"), ("ETag", "\"a\"")]
            let confirmation = TransportResponse(status: 304, fields: [("ETag", "\"a\"")], body: Data())
            let server = ScriptedTransport([try response(feed(0), fields), confirmation])
            _ = try await client.data(from: feedURL, using: server)
            Self.limit(RLIMIT_FSIZE, to: 10)
            if try await client.data(from: feedURL, using: server).0 != feed(0) { exit(3) }
            if try await client.named("feed") != name(of: feed(0)) { exit(4) }
        }
    }

    @Test func `a record that cannot be written takes its body along`() async throws {
        let client = try folder.client()
        try await client.keep([("a", feed(0))])
        let record = try #require(folder.files(endingIn: ".dictum.json").first)
        for kind in ["json", "body"] {
            for file in folder.files(endingIn: ".dictum.\(kind)") {
                try FileManager.default.removeItem(at: file)
            }
        }
        try FileManager.default.createDirectory(at: record, withIntermediateDirectories: true)
        try await client.keep([("a", feed(0))])
        #expect(folder.metrics.map(\.isKept) == [true, false])
        #expect(folder.files(endingIn: ".dictum.body").isEmpty)
        #expect(folder.files(endingIn: ".dictum.part").isEmpty)
    }

    @Test(arguments: ["body", "json"])
    func `an empty file is damaged, and the dictionary can be kept again`(kind: String) async throws {
        let client = try folder.client()
        try await client.keep([("a", feed(0))])
        let file = try #require(folder.files(endingIn: ".dictum.\(kind)").first)
        try Data().write(to: file)
        #expect(try await client.held(["a"]) == [])
        #expect(folder.files(endingIn: ".dictum.body").isEmpty)
        try await client.keep([("a", feed(0))])
        #expect(try await client.held(["a"]) == ["a"])
    }

    @Test(arguments: [-1, 1, 900, Int.max])
    func `a record with another length is damaged`(bytes: Int) async throws {
        try await folder.client().keep([("a", feed(0))])
        let file = try #require(folder.files(endingIn: ".dictum.json").first)
        let (old, new) = ("\"bytes\":\(feed(0).count)", "\"bytes\":\(bytes)")
        let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        try #require(text.contains(old))
        try Data(text.replacingOccurrences(of: old, with: new).utf8).write(to: file)
        #expect(try await folder.client().held(["a"]) == [])
        #expect(folder.files(endingIn: ".dictum.body").isEmpty)
    }

    @Test func `a request that fails drops its own dictionary, and no newer one`() async throws {
        let client = try folder.client()
        try await client.keep([("feed", feed(0))])
        let turn = ScriptedTransport { request in
            guard request.value(forHTTPHeaderField: "Available-Dictionary") != nil else {
                return try response(feed(2), match: nil)
            }
            try await client.keep([("feed", feed(1))])
            return try response(feed(2), match: nil, coding: .dcz, over: feed(9))
        }
        #expect(try await client.data(from: feedURL, using: turn).0 == feed(2))
        #expect(turn.requests.count == 2)
        #expect(try await client.named("feed") == name(of: feed(1)))
    }

    @Test func `a dictionary that has lost a file, or whose folder was purged, is kept again`() async throws {
        let (client, file) = (try folder.client(), folder.url.appendingPathExtension("json"))
        defer { try? FileManager.default.removeItem(at: file) }
        try feed(0).write(to: file)
        try await client.preload(file, match: "/a", from: feedURL)
        for ending in [".dictum.body", ".dictum.json", ".dictum", ""] {
            let lost = ending.isEmpty ? folder.url : try #require(folder.files(endingIn: ending).first)
            try FileManager.default.removeItem(at: lost)
            #expect(try await client.held(["a"]) == [])
            try await client.preload(file, match: "/a", from: feedURL)
            #expect(try await client.held(["a"]) == ["a"])
        }
    }
}
