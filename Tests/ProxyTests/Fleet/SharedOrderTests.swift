internal import Dictionaries
internal import Foundation
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy
@testable import Redis

/// Orders to forget while the shared store is away, slow, or full.
@Suite(
    .timeLimit(.minutes(40)),
    .enabled(if: RedisServer.program != nil, "\(RedisServer.absence)"))
struct SharedOrderTests {
    private let ann = "Cookie: session=ann"
    private let bob = "Cookie: session=bob"

    private func fleet(_ count: Int) throws -> TestFleet {
        try TestFleet(
            count, #"routes: [{match: /*, dictionary: {scope: private, identity: "cookie:session"}}]"#,
            fields: "Cache-Control: private, max-age=60")
    }

    /// Waits until a node has logged some words, and returns how often it has.
    private func untilLogged(_ words: String, by node: TestProxy) throws -> Int {
        var count = 0
        try waitUntil("the node logs: \(words)") {
            count = node.events.withLock { $0 }.count { "\($0)".contains(words) }
            return count > 0
        }
        return count
    }

    @Test func `ids that Redis does not take are told again`() throws {
        let fleet = try fleet(1)
        let shared = try #require(fleet.shared(fleet.nodes[0]))
        let stream = try #require(shared.names.sealedNews)
        try waitUntil("the node can write") { shared.client.isBackgroundAvailable }
        try fleet.redis.command("SET", stream, "of another type")
        let tag = try #require(PromisedTag(bytes: [UInt8](repeating: 1, count: PromisedTag.byteCount)))
        shared.promised([PromisedIDs.Promise(tag, network: 1)])
        try waitUntil("Redis has refused") { shared.client.counts.errors["WRONGTYPE"] != nil }
        try fleet.redis.command("DEL", stream)
        try waitUntil("the id is told") { try fleet.redis.command("XLEN", stream) == "1" }
    }

    @Test func `a log-out while Redis is away reaches all nodes later, and spares what came after it`() throws
    {
        let fleet = try fleet(2)
        let (near, far) = (fleet.nodes[0], fleet.nodes[1])
        for user in [ann, bob] { try fleet.fetch(1, version: 0, user) }
        try fleet.untilKnown(2)
        fleet.redis.kill()
        let context = near.server.context
        for round in 1...2 {
            context.forget(context.owners(["cookie:session": "ann"], authority: "api.test"))
            try waitUntil("the order waits") {
                fleet.shared(near)?.waitingOrders.withLock { $0.count } == round
            }
            #expect(try untilLogged("was not confirmed", by: near) == 1)
            // Versions that come so soon after an order may go with it.
            Thread.sleep(forTimeInterval: 2.1)
        }
        try fleet.fetch(1, version: 0, ann, target: "/later")
        func untilKept(_ count: Int) throws {
            try waitUntil("\(count) versions are kept", seconds: 60) {
                far.server.context.store.statistics.versions == count
            }
        }
        try untilKept(3)
        try fleet.redis.start()
        #expect(try untilLogged("that waited are confirmed", by: near) == 1)
        try untilKept(2)
        for (path, user, isKept) in [("/feed", ann, false), ("/later", ann, true), ("/feed", bob, true)] {
            let answer = try far.fetch(path, over: TestFleet.body(0), "X-Version: 1", user)
            #expect(try isDelta(answer, of: 1, over: 0) == isKept, "\(path) \(user)")
        }
    }

    @Test func `an order that Redis refuses is given again`() throws {
        let fleet = try fleet(1)
        try fleet.redis.command("CONFIG", "SET", "maxmemory", "1")
        let answer = try fleet.nodes[0].admin(
            "POST /purge?path=/feed HTTP/1.1", "Host: localhost", "Content-Type: application/json")
        #expect(answer.text.contains(#""other_nodes_told":false"#))
        _ = try untilLogged("was not confirmed", by: fleet.nodes[0])
        try fleet.redis.command("CONFIG", "SET", "maxmemory", "0")
        _ = try untilLogged("that waited are confirmed", by: fleet.nodes[0])
        #expect(try fleet.redis.command("XLEN", "dictum:1:news") == "1")
    }

    @Test func `versions that Redis does not remove at once are removed later`() throws {
        let fleet = try fleet(1)
        try fleet.fetch(0, version: 0, ann)
        try fleet.untilKnown(1)
        #expect(try fleet.keys().count == 1)
        try fleet.redis.command("ACL", "SETUSER", "default", "-del", "-unlink")
        let context = fleet.nodes[0].server.context
        context.forget(context.owners(["cookie:session": "ann"], authority: "api.test"))
        try waitUntil("the deletion waits") {
            fleet.shared(fleet.nodes[0])?.waitingDeletions.withLock { $0.count } == 1
        }
        #expect(try fleet.keys().count == 1)
        try fleet.redis.command("ACL", "SETUSER", "default", "+@all")
        try waitUntil("the version is removed") { try fleet.keys().isEmpty }
    }

    @Test func `a log-out has other work of its queue wait for no reply of Redis`() throws {
        let fleet = try fleet(1)
        let context = fleet.nodes[0].server.context
        let shared = try #require(fleet.shared(fleet.nodes[0]))
        let owners = context.owners(["cookie:session": "ann"], authority: "api.test")
        fleet.redis.pause()
        defer { fleet.redis.resume() }
        _ = context.shared.leavingUsers.withLock { $0.add(owners) }
        let begunAt = SystemClock.monotonicNanoseconds
        context.forgetLeavingUsers()
        // The reply would be waited for until its deadline, which is two seconds.
        let isWaiting = shared.client.waitingBytes > 0
        #expect(isWaiting || SystemClock.monotonicNanoseconds - begunAt > 1_900_000_000)
    }
}

/// The bounds of what waits.
@Suite struct WaitingOrdersTests {
    private func orders(_ numbers: Range<Int>) -> [SharedOrder] {
        numbers.map { SharedOrder(order: PurgeOrder(path: "/\($0)"), givenAt: 0) }
    }

    private func takeAll(_ waiting: inout WaitingOrders) -> [SharedOrder] {
        var all: [SharedOrder] = []
        while case let some = waiting.take(), !some.isEmpty {
            all += some
            _ = waiting.end(some, isConfirmed: true)
        }
        return all
    }

    @Test func `orders wait in their order until they are confirmed, and some go at a time`() {
        var waiting = WaitingOrders()
        #expect(waiting.add(orders(0..<150)) == [.waits])
        #expect(waiting.add(orders(150..<250)) == [])
        let first = waiting.take()
        #expect(first.map(\.order) == orders(0..<WaitingOrders.batchCount).map(\.order))
        #expect(waiting.take().isEmpty, "the first are on their way")
        #expect(waiting.end(first, isConfirmed: false) == [])
        #expect(takeAll(&waiting).map(\.order) == orders(0..<250).map(\.order))
        #expect(waiting.add(orders(0..<1)) == [.waits], "anew")
        let last = waiting.take()
        #expect(waiting.add(orders(1..<2)) == [], "one was on its way")
        #expect(waiting.end(last, isConfirmed: true) == [])
        #expect(waiting.end(waiting.take(), isConfirmed: true) == [.isOver])
    }

    @Test func `of too many the oldest go, which is told of once`() {
        var waiting = WaitingOrders()
        let count = WaitingOrders.countMax
        #expect(waiting.add(orders(0..<count)) == [.waits])
        let first = waiting.take()
        #expect(waiting.add(orders(count..<count + 10)) == [])
        #expect(waiting.end(first, isConfirmed: false) == [.overflows])
        #expect(waiting.add(orders(count + 10..<count + 20)) == [])
        let all = takeAll(&waiting)
        #expect(all.count == count && all.first?.order == PurgeOrder(path: "/20"))
        // All are confirmed, so that the next outage is news again.
        #expect(waiting.add(orders(0..<count)) == [.waits])
        #expect(waiting.add(orders(0..<1)) == [.overflows])
    }
}
