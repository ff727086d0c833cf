internal import Dictionaries
internal import Foundation
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy
@testable import Redis

/// After an order to one node, no node uses, offers or gets back what it names.
@Suite(
    .timeLimit(.minutes(40)),
    .enabled(if: RedisServer.program != nil, "\(RedisServer.absence)"))
struct SharedPurgeTests {
    private func purge(_ fleet: TestFleet, _ query: String) throws {
        let answer = try fleet.nodes[0].admin(
            "POST /purge?\(query) HTTP/1.1", "Host: localhost", "Content-Type: application/json")
        #expect(answer.status == 200 && answer.text.contains(#""other_nodes_told":true"#), "\(answer.text)")
    }

    private func untilForgotten(_ fleet: TestFleet) throws {
        try waitUntil("every node and Redis have forgotten the versions") {
            try fleet.keys().isEmpty
                && fleet.nodes.allSatisfy { $0.server.context.store.statistics.versions == 0 }
        }
    }

    @Test(arguments: [
        ("Cache-Control: public, max-age=60", "X-A: 1", "path=/feed"),
        ("Cache-Control: max-age=60", "X-A: 1", "host=api.test"),
        ("Cache-Control: private, max-age=60", "Cookie: session=1", "path=/feed&host=api.test"),
    ])
    func `a version that one node is told to forget is gone at all nodes`(
        fields: String, sent: String, query: String
    ) throws {
        let fleet = try TestFleet(2, fields: fields)
        try fleet.fetch(0, version: 0, sent)
        try fleet.untilKnown(1)
        #expect(try isDelta(fleet.fetch(1, version: 1, over: 0, from: 0, sent), of: 1, over: 0))
        try purge(fleet, query)
        try untilForgotten(fleet)
        for node in 0..<2 {
            #expect(try !isDelta(fleet.fetch(node, version: 2, over: 0, from: 0, sent), of: 2, over: 0))
        }
    }

    @Test func `a user's versions go from all nodes, and another's stay`() throws {
        let fleet = try TestFleet(
            2, #"routes: [{match: /*, dictionary: {scope: private, identity: "cookie:session"}}]"#,
            fields: "Cache-Control: private, max-age=60")
        let (ann, bob) = ("Cookie: session=ann", "Cookie: session=bob")
        for user in [ann, bob] { try fleet.fetch(0, version: 0, user) }
        try fleet.untilKnown(2)
        try purge(fleet, "host=api.test&user=cookie:session%3Dann")
        try waitUntil("one version is left in Redis") { try fleet.keys().count == 1 }
        #expect(try !isDelta(fleet.fetch(1, version: 1, over: 0, from: 0, ann), of: 1, over: 0))
        #expect(
            try isDelta(
                fleet.nodes[0].fetch("/feed", over: TestFleet.body(0), "X-Version: 1", bob), of: 1, over: 0))
    }

    @Test func `an order that no node with the key has just signed removes nothing`() throws {
        let fleet = try TestFleet(1)
        let shared = try #require(fleet.shared(fleet.nodes[0]))
        let keys = try #require(shared.commonKeys)
        let stranger = try #require(StoreKeys(key: [UInt8](repeating: 5, count: StoreKeys.byteCount)))
        let now = SystemClock.unixMilliseconds
        let order: [SignedEntry.Field] = [
            (PurgeOrder.entry, PurgeOrder(path: "/feed").sharedBytes),
            (SharedDemand.Entry.node, [UInt8](repeating: 9, count: 8)),
        ]
        let signed = SignedEntry.sign(order, at: now, keys)
        let chain = ChainKey(authority: "api.test", match: "/feed")
        /// Has the node read an entry as it comes; returns true if it heeds the order.
        func heeds(_ fields: [SignedEntry.Field], after milliseconds: Int64 = 0) -> Bool {
            let id = RedisStreamID(milliseconds: UInt64(now + milliseconds), sequence: 0)
            let entry = RedisStreamEntry(id: id, fields: fields, appended: now - 900...now)
            shared.heed(.entries(stream: SharedStore.newsPlace, [entry]))
            return shared.isPurged(chain, url: "/feed", rank: 1)
        }
        #expect(!heeds(order))
        #expect(!heeds(SignedEntry.sign(order, at: now, stranger)))
        #expect(!heeds([(PurgeOrder.entry, PurgeOrder(host: "api.test").sharedBytes)] + signed.dropFirst()))
        let old = SignedEntry.sign(order, at: now - 61_000, keys)
        #expect(!heeds(old) && !heeds(old, after: -61_000), "somebody has appended it again")
        #expect(heeds(signed, after: 86_400_000), "the clock of the shared store is wrong")
        #expect(!shared.isPurged(chain, url: "/feed", rank: (now + 60_000) * 1_000))
        let warnings = fleet.nodes[0].events.withLock { $0 }.count { "\($0)".contains("not heeded") }
        #expect(warnings == 1)
    }

    @Test(arguments: [(100_000, 100_000), (100_000, 0), (0, 0)] as [(Int64, Int64)])
    func `an order that came in time is heeded however late the node is`(sinceRead: Int64, sinceCame: Int64)
        throws
    {
        let fleet = try TestFleet(1)
        let shared = try #require(fleet.shared(fleet.nodes[0]))
        let keys = try #require(shared.commonKeys)
        let now = SystemClock.unixMilliseconds
        let signedAt = now - sinceRead
        let order: [SignedEntry.Field] = [
            (PurgeOrder.entry, PurgeOrder(path: "/feed").sharedBytes),
            (SharedDemand.Entry.node, [UInt8](repeating: 9, count: 8)),
        ]
        // The node was busy, or suspended, before it read the entry or after that.
        let entry = RedisStreamEntry(
            id: RedisStreamID(milliseconds: UInt64(signedAt), sequence: 0),
            fields: SignedEntry.sign(order, at: signedAt, keys),
            appended: signedAt - 900...now - sinceCame)
        shared.heed(.entries(stream: SharedStore.newsPlace, [entry]))
        let chain = ChainKey(authority: "api.test", match: "/feed")
        #expect(shared.isPurged(chain, url: "/feed", rank: signedAt * 1_000))
        #expect(!shared.isPurged(chain, url: "/feed", rank: (signedAt + 62_000) * 1_000))
    }

    @Test func `a node that was away does not bring forgotten versions back`() throws {
        let fleet = try TestFleet(1)
        try fleet.fetch(0, version: 0)
        try fleet.untilKnown(1)
        try purge(fleet, "path=/feed")
        try fleet.addNode()
        let shared = try #require(fleet.shared(fleet.nodes[1]))
        let chain = ChainKey(authority: "api.test", match: "/feed")
        #expect(shared.isPurged(chain, url: "/feed", rank: 1))
        #expect(!shared.isPurged(chain, url: "/feed", rank: .max))
        #expect(try !isDelta(fleet.fetch(1, version: 1, over: 0, from: 0), of: 1, over: 0))
    }
}
