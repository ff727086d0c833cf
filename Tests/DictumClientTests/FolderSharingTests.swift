import Dictionaries
import DictumClient
import Foundation
import FoundationNetworking
import Glibc
import Testing

/// Several instances, or processes, with one folder.
@Suite struct FolderSharingTests {
    private let folder = ClientFolder()

    @Test func `what one keeps, replaces and drops, the other sees`() async throws {
        let (one, two) = (try folder.client(), try folder.client())
        try await one.keep([("a", feed(1))])
        #expect(try await two.named("a") == name(of: feed(1)))
        try await two.keep([("a", feed(2))])
        #expect(try await one.named("a") == name(of: feed(2)))
        #expect(try await two.named("a") == name(of: feed(2)))
        #expect(folder.files(endingIn: ".dictum.body").count == 1)
        let broken = ScriptedTransport([
            try response(feed(3), match: nil, coding: .dcz, over: feed(9)), try response(feed(3), match: nil),
        ])
        _ = try await one.data(from: try #require(URL(string: "https://api.test/a")), using: broken)
        #expect(try await two.named("a") == nil)
    }

    @Test func `a change that comes long after the last one is seen, too`() async throws {
        let (one, two) = (try folder.client(), try folder.client())
        try await one.keep([("a", feed(1))])
        try folder.settle()
        #expect(try await two.held(["a", "b"]) == ["a"])
        try await one.keep([("b", feed(2))])
        #expect(try await two.held(["a", "b"]) == ["a", "b"])
    }

    @Test func `a change is seen that the clock of the file system does not tell from the last one`()
        async throws
    {
        let (one, two, tick) = (try folder.client(), try folder.client(), Date(timeIntervalSinceNow: 5))
        try await one.keep([("a", feed(1))])
        try folder.settle(to: tick)
        #expect(try await two.held(["a", "b"]) == ["a"])
        try await one.keep([("b", feed(2))])
        try folder.settle(to: tick)
        #expect(try await two.held(["a", "b"]) == ["a", "b"])
    }

    @Test func `the limit counts what others have kept`() async throws {
        let body = Data(repeating: 1, count: 400 << 10)
        let (one, two) = (
            try folder.client(limit: .mebibytes(1)), try folder.client(limit: .mebibytes(1))
        )
        #expect(try await one.held(["a"]) == [])
        try await two.keep([("a", body), ("b", body + [1])])
        try await one.keep([("c", body + [2])])
        #expect(folder.files(endingIn: ".dictum.body").count == 2)
        #expect(try await two.held(["a", "b", "c"]) == ["b", "c"])
    }

    @Test(arguments: [true, false])
    func `a log-out by another reaches a response on its way, also a user's first`(isFirst: Bool) async throws
    {
        let (client, other) = (try folder.client().forUser("one"), try folder.client().forUser("one"))
        if !isFirst { try await client.keep([("a", feed(1))]) }
        let server = ScriptedTransport { _ in
            await other.removeAll()
            // The next user of that name is at work already.
            try await other.keep([("b", feed(2))])
            return try response(feed(0))
        }
        #expect(try await client.data(from: feedURL, using: server).0 == feed(0))
        #expect(try await client.held(["feed", "a", "b"]) == ["b"])
        #expect(folder.files(endingIn: ".dictum.body").count == 1)
    }

    @Test(arguments: [true, false])
    func `emptying the store reaches a user's first response on its way`(isOther: Bool) async throws {
        let store = try ClientStore.persistent(at: folder.url, limit: .mebibytes(1))
        let other = try ClientStore.persistent(at: folder.url, limit: .mebibytes(1))
        let server = ScriptedTransport { _ in
            await (isOther ? other : store).removeAll()
            return try response(feed(0))
        }
        _ = try await DictionaryClient(store: store).forUser("new").data(from: feedURL, using: server)
        #expect(folder.files(endingIn: ".dictum.body").isEmpty)
    }

    /// The folder of processes whose parent is this one, which finds it by its own id.
    private static func folder(of parent: pid_t) -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent("dictum-client-shared-\(parent)")
    }

    private static func client(of parent: pid_t) throws -> DictionaryClient {
        DictionaryClient(store: try .persistent(at: folder(of: parent), limit: .mebibytes(8)))
    }

    /// Keeps dictionaries of this process alone, and one that the other replaces, too; exits if one of the former is lost.
    private static func keepMany(_ own: String, from first: Int) async throws {
        let client = try client(of: getppid())
        for number in 0..<60 {
            let body = feed(first + number)
            try await client.keep([("\(own)-\(number)", body), ("both", body)])
            if try await client.named("\(own)-\(number)") != name(of: body) { exit(1) }
        }
    }

    @Test func `two processes lose nothing of what each keeps, nor what both replace`() async throws {
        defer { try? FileManager.default.removeItem(at: Self.folder(of: getpid())) }
        await withTaskGroup { group in
            group.addTask {
                await #expect(processExitsWith: .success) { try await Self.keepMany("one", from: 0) }
            }
            group.addTask {
                await #expect(processExitsWith: .success) { try await Self.keepMany("two", from: 100) }
            }
        }
        let names = (0..<60).flatMap { ["one-\($0)", "two-\($0)"] } + ["both"]
        #expect(try await Self.client(of: getpid()).held(names) == names)
    }
}
