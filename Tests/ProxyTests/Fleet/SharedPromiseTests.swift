internal import Dictionaries
internal import Foundation
internal import Primitives
internal import Redis
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let enabled = RedisServer.program != nil

/// Ids that were given out before their body was complete, at other nodes than the one that gave them.
@Suite(.timeLimit(.minutes(40)), .enabled(if: enabled, "\(RedisServer.absence)"))
struct SharedPromiseTests {
    private static let slow = "X-Slow: 1"

    private func fleet(_ count: Int) throws -> TestFleet {
        try TestFleet(count, fields: "Cache-Control: max-age=60")
    }

    /// Waits until every node knows so many promised ids.
    private func untilPromised(_ count: Int, in fleet: TestFleet) throws {
        try waitUntil("every node knows \(count) ids") {
            fleet.nodes.allSatisfy { fleet.shared($0)?.state.withLock { $0.promises.count } == count }
        }
    }

    private func id(_ answer: WireMessage) throws -> String {
        let field = try #require(answer["Use-As-Dictionary"], "\(answer)")
        return try #require(UseAsDictionary.parse([field])).id
    }

    @Test(arguments: ["X-A: 1", "Authorization: Bearer ann"])
    func `a client takes such an id to any node, which keeps it with the version`(sent: String) throws {
        let fleet = try fleet(3)
        let id = try id(fleet.fetch(0, version: 0, sent, Self.slow))
        try fleet.untilKnown(1)
        try untilPromised(1, in: fleet)
        for node in 1..<3 {
            #expect(try isDelta(fleet.fetch(node, version: 1, over: 0, from: 0, sent), of: 1, over: 0))
            #expect(fleet.lookUps(node, .hit) == 1)
            let store = fleet.nodes[node].server.context.store
            #expect(
                store.sharing.versionsToShare(max: 10).contains { store.sharing.promises(of: $0).count == 1 })
        }
        #expect(try !fleet.redis.command("XRANGE", "dictum:1:news", "-", "+").contains(id))
    }

    @Test func `the announcement of a version has its ids, without a further command`() throws {
        let fleet = try fleet(2)
        var commands: [Int] = []
        // On a busy machine a version may be written so late that its ids have gone alone.
        while commands.last != 1, commands.count < 10 {
            let (former, count) = (try fleet.calls("xadd"), commands.count + 1)
            try fleet.fetch(0, version: count, "Authorization: Bearer ann", Self.slow, target: "/\(count)")
            try untilPromised(count, in: fleet)
            try fleet.untilKnown(count)
            commands.append(try fleet.calls("xadd") - former)
        }
        #expect(commands.last == 1, "\(commands)")
    }

    @Test func `ids that come after the announcement of their version follow it`() throws {
        let fleet = try fleet(2)
        try fleet.fetch(0, version: 0)
        try fleet.untilKnown(1)
        for count in 1...3 {
            let id = try id(fleet.fetch(0, version: 0, Self.slow))
            try untilPromised(count, in: fleet)
            #expect(
                try isDelta(
                    fleet.nodes[1].fetch(
                        "/feed", over: TestFleet.body(0), "X-Version: 1", "Dictionary-ID: \"\(id)\""), of: 1,
                    over: 0))
        }
        #expect(fleet.lookUps(1, .hit) == 1, "it is in the local store after the first")
    }

    @Test func `ids whose announcement Redis refuses wait for another one`() throws {
        let fleet = try fleet(1)
        let shared = try #require(fleet.shared(fleet.nodes[0]))
        let name = try #require(
            SharedName(
                chain: ChainKey(authority: "api.test", scope: .unlisted, match: "/feed"),
                digest: Body([1]).digest, keys: shared.commonKeys))
        let tag = try #require(PromisedTag(bytes: [UInt8](1...16)))
        try fleet.redis.command("ACL", "SETUSER", "default", "-xadd")
        // What waits would be announced once more.
        shared.work.suspend()
        defer { shared.work.resume() }
        _ = shared.waitingPromises.withLock { $0.add([PromisedIDs.Promise(tag, network: 1)]) }
        shared.announce([SharedNews(name: name, chain: nil, rank: 1, bytes: 1)])
        try waitUntil("it waits again") {
            shared.client.counts.errors["NOPERM"] != nil && !shared.waitingPromises.withLock(\.isEmpty)
        }
    }

    @Test func `without the right id nothing is asked for`() throws {
        let fleet = try fleet(2)
        try fleet.fetch(0, version: 0, Self.slow)
        let other = try id(fleet.fetch(0, version: 1, Self.slow))
        try untilPromised(2, in: fleet)
        try fleet.untilKnown(2)
        let gets = try fleet.calls("get")
        for id in [other, "AAAAAAAAAAAAAAAAAAAAAA"] {
            let answer = try fleet.nodes[1].fetch(
                "/feed", over: TestFleet.body(0), "X-Version: 1", "Dictionary-ID: \"\(id)\"")
            #expect(try !isDelta(answer, of: 1, over: 0))
        }
        #expect(try fleet.calls("get") == gets)
    }

    @Test func `a new node knows the ids of the others, also after a loss of everything`() throws {
        let fleet = try fleet(1)
        try fleet.fetch(0, version: 0, Self.slow)
        try untilPromised(1, in: fleet)
        try fleet.addNode()
        try untilPromised(1, in: fleet)
        #expect(try isDelta(fleet.fetch(1, version: 1, over: 0, from: 0), of: 1, over: 0))
        try fleet.redis.command("FLUSHALL")
        try waitUntil("all is there again") { try fleet.keys().count == 1 }
        try untilPromised(1, in: fleet)
        try fleet.addNode()
        try untilPromised(1, in: fleet)
        #expect(try isDelta(fleet.fetch(2, version: 1, over: 0, from: 0), of: 1, over: 0))
    }

    @Test func `a server that restarts empty is told of the ids again`() throws {
        let fleet = try fleet(2)
        try fleet.fetch(0, version: 0, Self.slow)
        try untilPromised(1, in: fleet)
        fleet.redis.kill()
        try fleet.redis.start()
        try waitUntil("the version is there again") { try fleet.keys().count == 1 }
        for node in fleet.nodes { try fleet.untilComplete(node) }
        try fleet.addNode()
        try untilPromised(1, in: fleet)
        #expect(try isDelta(fleet.fetch(2, version: 1, over: 0, from: 0), of: 1, over: 0))
    }

    @Test func `what a writer without the key announces proves nothing`() throws {
        let fleet = try fleet(2)
        try fleet.fetch(0, version: 0)
        try fleet.untilKnown(1)
        let key = try #require(try fleet.keys().first)
        let stream = try #require(key.range(of: ":v:").map { key[..<$0.lowerBound] }) + ":news"
        try fleet.redis.command("XADD", String(stream), "*", "p", String(repeating: "A", count: 18))
        try fleet.redis.command("XADD", String(stream), "*", "p", "garbage")
        try untilPromised(1, in: fleet)
        let answer = try fleet.nodes[1].fetch(
            "/feed", over: TestFleet.body(0), "X-Version: 1", "Dictionary-ID: \"QUFBQUFBQUFBQUFBQUFBQQ\"")
        #expect(try !isDelta(answer, of: 1, over: 0))
    }
}
