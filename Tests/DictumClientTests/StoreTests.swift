import Dictionaries
import DictumClient
import Foundation
import FoundationNetworking
import Glibc
import TestSupport
import Testing

@Suite struct ClientStoreTests {
    private let folder = ClientFolder()

    @Test func `beyond the limit the least recently used goes, also after a restart`() async throws {
        let body = Data(repeating: 1, count: 400 << 10)
        var client = try folder.client(limit: .mebibytes(1))
        try await client.keep([("a", body), ("b", body + [1])])
        #expect(try await client.held(["a"]) == ["a"])
        try await client.keep([("c", body + [2])])
        #expect(try await client.held(["a", "b", "c"]) == ["a", "c"])
        client = try folder.client(limit: .mebibytes(1))
        #expect(try await client.held(["a"]) == ["a"])
        try await client.keep([("d", body + [3])])
        #expect(try await client.held(["a", "b", "c", "d"]) == ["a", "d"])
        #expect(folder.files(endingIn: ".dictum.body").count == 2)
    }

    @Test func `a body that is over the limit with its record is not kept`() async throws {
        let client = try folder.client(limit: .mebibytes(1))
        try await client.keep(
            [("a", Data(repeating: 1, count: 1_000_000)), ("b", Data(repeating: 1, count: 1 << 20))])
        #expect(try await client.held(["a", "b"]) == ["a"])
    }

    @Test(arguments: ["body", "json"], [true, false])
    func `a damaged file is not used, and the dictionary can be kept again`(kind: String, isCut: Bool)
        async throws
    {
        try await folder.client().keep([("feed", feed(0))])
        let file = try #require(folder.files(endingIn: ".dictum.\(kind)").first)
        var bytes = try Data(contentsOf: file)
        if isCut { bytes = bytes.dropLast(9) } else { bytes[0] ^= 1 }
        try bytes.write(to: file)
        let client = try folder.client()
        #expect(try await client.held(["feed"]) == [])
        try await client.keep([("feed", feed(0))])
        #expect(try await client.held(["feed"]) == ["feed"])
    }

    @Test func `many requests at once keep and name whole bodies`() async throws {
        let client = try folder.client()
        let server = ScriptedTransport { request in
            let version = Int.random(in: 1...9)
            guard let named = request.value(forHTTPHeaderField: "Available-Dictionary"),
                let held = (1...9).first(where: { name(of: feed($0)) == named })
            else { return try response(feed(version)) }
            return try response(feed(version), coding: .dcz, over: feed(held))
        }
        try await withThrowingTaskGroup(of: Data.self) { group in
            for _ in 0..<60 { group.addTask { try await client.data(from: feedURL, using: server).0 } }
            for try await body in group { #expect((1...9).contains { feed($0) == body }) }
        }
        #expect(!folder.metrics.contains { $0.isRetried })
        #expect(folder.files(endingIn: ".dictum.body").count == 1)
    }

    /// The folder of a killed process, which its parent finds by its own id.
    private static func killedFolder(parent: pid_t) -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent("dictum-client-killed-\(parent)")
    }

    @Test func `after kill -9 at any time each dictionary is whole or absent`() async throws {
        let url = Self.killedFolder(parent: getpid())
        defer { try? FileManager.default.removeItem(at: url) }
        var kept = 0
        for _ in 0..<8 {
            await #expect(processExitsWith: .signal(SIGKILL)) {
                let url = Self.killedFolder(parent: getppid())
                let client = DictionaryClient(store: try .persistent(at: url, limit: .mebibytes(1)))
                Thread.detachNewThread {
                    usleep(.random(in: 20_000...400_000))
                    kill(getpid(), SIGKILL)
                }
                for version in 0... {
                    let body = Data(Feed.bytes(version: version, items: 400))
                    let server = ScriptedTransport([try response(body, match: "/\(version % 3)/*")])
                    let url = try #require(URL(string: "https://api.test/\(version % 3)/feed"))
                    _ = try await client.data(from: url, using: server)
                }
            }
            let client = DictionaryClient(store: try .persistent(at: url, limit: .mebibytes(1)))
            for name in 0..<3 {
                let server = ScriptedTransport([try response(feed(0), match: nil)])
                let url = try #require(URL(string: "https://api.test/\(name)/x"))
                _ = try await client.data(from: url, using: server)
                // Only a body with the digest of its record is ever named.
                if server.named != [nil] { kept += 1 }
            }
        }
        #expect(kept > 0)
    }
}
