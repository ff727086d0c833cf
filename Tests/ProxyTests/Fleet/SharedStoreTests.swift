internal import Dictionaries
internal import Foundation
internal import Primitives
internal import Redis
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let enabled = RedisServer.program != nil

/// Nodes that share a store over a real Redis; whatever happens to it, every body is exact.
@Suite(.timeLimit(.minutes(40)), .enabled(if: enabled, "\(RedisServer.absence)"))
struct SharedStoreTests {
    // MARK: One store

    @Test(arguments: [
        ("Cache-Control: public, max-age=60", "X-A: 1"), ("Cache-Control: max-age=60", "X-A: 1"),
        ("Cache-Control: max-age=60", "Authorization: Bearer ann"),
        ("Cache-Control: private, max-age=60", "Cookie: session=1"),
    ])
    func `a client that changes nodes gets a delta over what another node has given it`(
        fields: String, sent: String
    ) throws {
        let fleet = try TestFleet(2, fields: fields)
        try fleet.fetch(0, version: 0, sent)
        try fleet.untilKnown(1)
        let answer = try fleet.fetch(1, version: 1, over: 0, from: 0, sent)
        #expect(try isDelta(answer, of: 1, over: 0))
        #expect(fleet.lookUps(1, .hit) == 1)
        #expect(try isDelta(fleet.fetch(1, version: 2, over: 0, from: 0, sent), of: 2, over: 0))
        #expect(fleet.lookUps(1, .hit) == 1, "it is in the local store now")
    }

    @Test func `a private route's version goes to its user at any node, and to nobody else`() throws {
        let fleet = try TestFleet(
            2,
            "routes: [{match: /*, dictionary: {scope: private, identity: authorization}}]",
            fields: "Cache-Control: private, max-age=60")
        let (ann, bob) = ("Authorization: Bearer ann", "Authorization: Bearer bob")
        try fleet.fetch(0, version: 0, ann)
        try fleet.untilKnown(1)
        let stolen = try fleet.fetch(1, version: 1, over: 0, from: 0, bob)
        #expect(try !isDelta(stolen, of: 1, over: 0))
        #expect(fleet.lookUps(1, .hit) == 0)
        #expect(try isDelta(fleet.fetch(1, version: 1, over: 0, from: 0, ann), of: 1, over: 0))
    }

    @Test func `without the id a version that needs one is not asked for`() throws {
        let fleet = try TestFleet(2, fields: "Cache-Control: max-age=60")
        try fleet.fetch(0, version: 0)
        try fleet.untilKnown(1)
        let gets = try fleet.calls("get")
        let answer = try fleet.nodes[1].fetch(
            "/feed", over: TestFleet.body(0), "X-Version: 1", "Dictionary-ID: \"AAAAAAAAAAAAAAAAAAAAAA\"")
        #expect(try !isDelta(answer, of: 1, over: 0))
        #expect(try fleet.calls("get") == gets)
    }

    @Test func `without a common key only public versions leave their node`() throws {
        let fleet = try TestFleet(2, fields: "Cache-Control: max-age=60", hasCommonKey: false)
        try fleet.fetch(0, version: 0)
        // The announcement of a public version comes after whatever the first could have led to.
        let node = try #require(fleet.shared(fleet.nodes[0]))
        try waitUntil("the node has published what it shares") {
            node.publications.withLock { !$0.isScheduled }
        }
        #expect(try fleet.keys().isEmpty)
        #expect(try !isDelta(fleet.fetch(1, version: 1, over: 0, from: 0), of: 1, over: 0))
        let told = fleet.nodes[0].events.withLock { $0 }.filter { "\($0)".contains("store.key_file") }
        #expect(told.count == 1)
    }

    @Test func `a node with another key shares public versions, and is told of the difference once`() throws {
        let fleet = try TestFleet(1)
        let other = try fleet.addNode(hasOwnKey: true)
        try fleet.fetch(0, version: 0)
        try fleet.untilKnown(1)
        #expect(try isDelta(fleet.fetch(1, version: 1, over: 0, from: 0), of: 1, over: 0))
        try waitUntil("a node has said that the keys differ") {
            (fleet.nodes[0].events.withLock { $0 } + other.events.withLock { $0 }).contains {
                "\($0)".contains("another store.key_file")
            }
        }
    }

    @Test func `nodes that see a body at once make one value of it, and one that comes later writes nothing`()
        throws
    {
        let fleet = try TestFleet(3)
        for node in 0..<3 { try fleet.fetch(node, version: 0) }
        try fleet.untilKnown(1)
        #expect(try fleet.keys().count == 1)
        try waitUntil("no node writes") {
            fleet.nodes.allSatisfy { fleet.shared($0)?.publications.withLock { $0.isScheduled } == false }
        }
        let sets = try fleet.calls("set")
        let late = try fleet.addNode()
        try fleet.untilKnown(1)
        _ = try late.fetch("/feed", "X-Version: 0")
        try waitUntil("the late node has looked") {
            fleet.shared(late)?.statistics.alreadyThere == 1
        }
        #expect(try fleet.calls("set") == sets)
    }

    @Test func `a body that another node has made a version is offered, where alone it would not be`() throws
    {
        let fleet = try TestFleet(2)
        for node in 0..<2 { try fleet.fetch(node, version: 0) }
        try fleet.untilKnown(1)
        // A client that holds a fresh version gains nothing by the next one.
        #expect(try fleet.fetch(1, version: 1, over: 0, from: 0)["Use-As-Dictionary"] == nil)
        try fleet.fetch(0, version: 2)
        try fleet.untilKnown(2)
        #expect(try fleet.fetch(1, version: 2, over: 0, from: 0)["Use-As-Dictionary"] != nil)
    }

    @Test func `a node fetches each new version of a chain in demand before a client names it`() throws {
        let fleet = try TestFleet(2)
        for node in 0..<2 { try fleet.fetch(node, version: 0) }
        try fleet.untilKnown(1)
        _ = try fleet.fetch(1, version: 0, over: 0, from: 0)
        // The second comes too soon after the first, and waits.
        for version in 1...2 {
            try fleet.fetch(0, version: version)
            try waitUntil("the node has fetched version \(version)") {
                fleet.shared(fleet.nodes[1])?.statistics.fetches[.hit] == version
            }
        }
        #expect(try isDelta(fleet.fetch(1, version: 3, over: 2, from: 0), of: 3, over: 2))
        #expect(fleet.lookUps(1, .hit) == 0)
    }

    @Test func `once a client has come back with one version, all of its chain live for days`() throws {
        let fleet = try TestFleet(1)
        for version in 0...1 { try fleet.fetch(0, version: version) }
        try fleet.untilKnown(2)
        // What clients are given is told later, and lives for days then, too.
        _ = fleet.nodes[0].server.context.store.sharing.takeDemand(max: 10, keys: nil)
        _ = try fleet.fetch(0, version: 0, over: 0, from: 0)
        let keys = try fleet.keys()
        try waitUntil("all live for days") {
            try keys.allSatisfy { Int(try fleet.redis.command("TTL", $0)) ?? 0 > 86_400 }
        }
    }

    @Test func `a body of several parts is fetched, and serves from the next request on`() throws {
        let large = Noise.bytes(2_500_000, seed: 7)
        let fleet = try TestFleet(1)
        let nodes = try (0..<2).map { _ in
            try TestProxy(
                Origin { _, connection in connection.send(json(large, "Cache-Control: public, max-age=60")) },
                change: { $0.store.shared = TestFleet.store(at: fleet.redis.socket) })
        }
        defer { nodes.forEach { $0.stop() } }
        for node in nodes { try fleet.untilComplete(node) }
        _ = try nodes[0].fetch("/large")
        try waitUntil("the other node knows it") {
            fleet.shared(nodes[1])?.statistics.known == 1
        }
        #expect(try fleet.keys().count == 3)
        // On a busy machine the body comes after the deadline of the first question, and is kept all the same.
        var answer = try nodes[1].fetch("/large", over: large)
        try waitUntil("the other node has it") {
            answer = try nodes[1].fetch("/large", over: large)
            return answer.coding == "dcz"
        }
        #expect(try answer.carriesDecoded(large, over: large))
    }

    // MARK: New nodes

    @Test func `a new node serves what all the others have given`() throws {
        let fleet = try TestFleet(2)
        for version in 0..<20 {
            try fleet.fetch(version % 2, version: version, target: "/feed\(version)")
        }
        try fleet.untilKnown(20)
        try fleet.addNode()
        for version in 0..<20 {
            // On a busy machine the reply comes after the end of the hold, and the version is kept all the same.
            try waitUntil("the new node has the version") {
                let answer = try fleet.fetch(
                    2, version: version + 1, over: version, from: version % 2, target: "/feed\(version)")
                return try isDelta(answer, of: version + 1, over: version)
            }
        }
        // A reply that comes late is no hit, and brings the version too.
        try waitUntil("each was asked for") { fleet.lookUps(2, .hit) + fleet.lookUps(2, .late) >= 20 }
        #expect(fleet.lookUps(2, .hit) <= 20, "once")
    }

    // MARK: Clients that name anything

    @Test func `a digest that no node has announced costs no question`() throws {
        let fleet = try TestFleet(2)
        try fleet.fetch(0, version: 0)
        try fleet.untilKnown(1)
        let gets = try fleet.calls("get")
        for seed in UInt64(1)...20 {
            let answer = try fleet.nodes[1].fetch("/feed", over: Noise.bytes(100, seed: seed))
            #expect(try answer.carriesDecoded(TestFleet.body(0)))
        }
        #expect(try fleet.calls("get") == gets)
        #expect(fleet.lookUps(1, .unannounced) == 20)
    }

    // MARK: Faults

    @Test(arguments: [
        ["SET", "garbage"], ["SET", ""], ["SET", "DV1 and no head"], ["LPUSH", "of another type"],
    ])
    func `a corrupted value costs a hit, and the node that has the version writes it again`(write: [String])
        throws
    {
        let fleet = try TestFleet(2)
        try fleet.fetch(0, version: 0)
        try fleet.untilKnown(1)
        let key = try #require(try fleet.keys().first)
        try fleet.redis.command("DEL", key)
        try fleet.redis.command(words: [write[0], key, write[1]])
        #expect(try !isDelta(fleet.fetch(1, version: 1, over: 0, from: 0), of: 1, over: 0))
        #expect(fleet.lookUps(1, .corrupt) == 1)
        try waitUntil("the other node has written it again") {
            try Int(fleet.redis.command("STRLEN", key)) ?? 0 > 100
        }
        try fleet.untilKnown(key)
        #expect(try isDelta(fleet.fetch(1, version: 1, over: 0, from: 0), of: 1, over: 0))
    }

    @Test func `a value of a newer release stays for its nodes, and is not asked for again for a while`()
        throws
    {
        let fleet = try TestFleet(2)
        try fleet.fetch(0, version: 0)
        try fleet.untilKnown(1)
        let key = try #require(try fleet.keys().first)
        let value = "DV2 of the future"
        try fleet.redis.command("SET", key, value)
        #expect(try !isDelta(fleet.fetch(1, version: 1, over: 0, from: 0), of: 1, over: 0))
        let gets = try fleet.calls("get")
        for _ in 0..<5 {
            #expect(try !isDelta(fleet.fetch(1, version: 1, over: 0, from: 0), of: 1, over: 0))
        }
        #expect(try fleet.redis.command("GET", key) == value)
        #expect(try fleet.calls("get") == gets + 1, "of this test itself")
        #expect(fleet.lookUps(1, .corrupt) == 0)
    }

    @Test func `one changed byte of a value costs a hit, and the version is written again`() throws {
        let fleet = try TestFleet(2)
        try fleet.fetch(0, version: 0)
        try fleet.untilKnown(1)
        let key = try #require(try fleet.keys().first)
        try fleet.redis.command("SETRANGE", key, "2000", "X")
        #expect(try !isDelta(fleet.fetch(1, version: 1, over: 0, from: 0), of: 1, over: 0))
        #expect(fleet.lookUps(1, .corrupt) == 1)
        try waitUntil("the other node has written it again") { try fleet.keys().contains(key) }
        try fleet.untilKnown(key)
        #expect(try isDelta(fleet.fetch(1, version: 1, over: 0, from: 0), of: 1, over: 0))
    }

    @Test func `a version under the key of another one is refused`() throws {
        let fleet = try TestFleet(2)
        try fleet.fetch(0, version: 0)
        try fleet.untilKnown(1)
        let first = try #require(try fleet.keys().first)
        try fleet.fetch(0, version: 1)
        try fleet.untilKnown(2)
        let second = try #require(try fleet.keys().first { $0 != first })
        try fleet.redis.command("COPY", second, first, "REPLACE")
        #expect(try !isDelta(fleet.fetch(1, version: 2, over: 0, from: 0), of: 2, over: 0))
        #expect(fleet.lookUps(1, .corrupt) == 1)
        #expect(try isDelta(fleet.fetch(1, version: 2, over: 1, from: 0), of: 2, over: 1))
    }

    @Test func `after a loss of everything the nodes write again what they hold`() throws {
        let fleet = try TestFleet(2)
        for version in 0..<5 { try fleet.fetch(0, version: version, target: "/feed\(version)") }
        try fleet.untilKnown(5)
        try fleet.redis.command("FLUSHALL")
        try waitUntil("all versions are there again") { try fleet.keys().count == 5 }
        let late = try fleet.addNode()
        try waitUntil("a new node knows them") { fleet.shared(late)?.statistics.known == 5 }
        #expect(
            try isDelta(fleet.fetch(2, version: 9, over: 3, from: 0, target: "/feed3"), of: 9, over: 3))
    }

    @Test func `a version that was evicted costs a hit once, and is written again`() throws {
        let fleet = try TestFleet(2)
        try fleet.fetch(0, version: 0)
        try fleet.untilKnown(1)
        let key = try #require(try fleet.keys().first)
        try fleet.redis.command("DEL", key)
        #expect(try !isDelta(fleet.fetch(1, version: 1, over: 0, from: 0), of: 1, over: 0))
        #expect(fleet.lookUps(1, .miss) == 1)
        try waitUntil("the other node has written it again") { try fleet.keys().contains(key) }
        try fleet.untilKnown(key)
        #expect(try isDelta(fleet.fetch(1, version: 1, over: 0, from: 0), of: 1, over: 0))
    }

    @Test func `while the server is silent responses go out plain, and deltas of the local store go on`()
        throws
    {
        let fleet = try TestFleet(2, timeout: 20)
        try fleet.fetch(0, version: 0)
        try fleet.untilKnown(1)
        fleet.redis.pause()
        defer { fleet.redis.resume() }
        for _ in 0..<20 {
            #expect(try !isDelta(fleet.fetch(1, version: 1, over: 0, from: 0), of: 1, over: 0))
            #expect(try isDelta(fleet.fetch(0, version: 1, over: 0, from: 0), of: 1, over: 0))
        }
        #expect(fleet.lookUps(1, .hit) == 0)
        #expect(fleet.lookUps(1, .late) + fleet.lookUps(1, .unavailable) > 0)
    }

    @Test func `a version that comes late is asked for once, however many clients name it meanwhile`() throws
    {
        let fleet = try TestFleet(2, timeout: 20)
        try fleet.fetch(0, version: 0)
        try fleet.untilKnown(1)
        let before = try fleet.calls("get")
        fleet.redis.pause()
        for _ in 0..<4 { _ = try fleet.fetch(1, version: 1, over: 0, from: 0) }
        fleet.redis.resume()
        try waitUntil("the version has come") { fleet.shared(fleet.nodes[1])?.statistics.fetches[.hit] == 1 }
        // The request's own question, and the one that goes on without it.
        #expect(try fleet.calls("get") - before <= 2)
        #expect(try isDelta(fleet.fetch(1, version: 1, over: 0, from: 0), of: 1, over: 0))
    }

    @Test func `a reply after its response was given up is noted for nobody, and serves the next client`()
        throws
    {
        let fleet = try TestFleet(2)
        try fleet.fetch(0, version: 0)
        try fleet.untilKnown(1)
        let node = fleet.nodes[1]
        fleet.redis.pause()
        let client = try node.connect()
        client.send(
            request(
                "/feed",
                ["X-Version: 1", "X-Held: 1", "Accept-Encoding: dcz, dcb", available(TestFleet.body(0))]))
        var answer = try client.receiveHead()
        #expect(answer["Content-Encoding"] == nil)
        fleet.redis.resume()
        try waitUntil("the reply has come") {
            fleet.shared(node)?.state.withLock { $0.flights.isEmpty } == true && fleet.lookUps(1, .hit) == 1
        }
        fleet.rest.open()
        client.receiveBody(&answer)
        #expect(answer.carries(TestFleet.body(1)))
        let statistics = node.server.context.store.statistics
        #expect(statistics.advertisedFound == 0 && statistics.advertisedUnknown == 0)
        #expect(try isDelta(fleet.fetch(1, version: 2, over: 0, from: 0), of: 2, over: 0))
    }

    @Test func `without the server nodes work alone, and together again once it is back with nothing`() throws
    {
        let fleet = try TestFleet(2)
        try fleet.fetch(0, version: 0)
        try fleet.untilKnown(1)
        let key = try #require(try fleet.keys().first)
        fleet.redis.kill()
        #expect(try !isDelta(fleet.fetch(1, version: 1, over: 0, from: 0), of: 1, over: 0))
        #expect(try isDelta(fleet.fetch(0, version: 1, over: 0, from: 0), of: 1, over: 0))
        try fleet.redis.start()
        try waitUntil("what the nodes hold is there again") { try fleet.keys().contains(key) }
        for node in fleet.nodes { try fleet.untilComplete(node) }
        try fleet.addNode()
        try fleet.untilKnown(key)
        #expect(try isDelta(fleet.fetch(2, version: 2, over: 0, from: 0), of: 2, over: 0))
    }

    @Test func `keys of another schema, and fields of a newer release, are left alone`() throws {
        let fleet = try TestFleet(2)
        try fleet.redis.command("SET", "dictum:2:v:x", "of the future")
        try fleet.redis.command("XADD", "dictum:1:news", "*", "z", "of the future", "v", "garbage")
        try fleet.redis.command("XADD", "dictum:1:demand", "*", "z", "1", "h", "garbage", "n", "garbage")
        try fleet.fetch(0, version: 0)
        try fleet.untilKnown(1)
        #expect(try isDelta(fleet.fetch(1, version: 1, over: 0, from: 0), of: 1, over: 0))
        #expect(try fleet.redis.command("GET", "dictum:2:v:x") == "of the future")
    }

    @Test func `without the setting there is no shared store`() throws {
        let proxy = try TestProxy(json(TestFleet.body(0)))
        #expect(proxy.server.context.sharedStore == nil)
    }
}

extension TestFleet {
    fileprivate func lookUps(of node: TestProxy, _ result: SharedLookUp) -> Int {
        shared(node)?.statistics.lookUps[result] ?? 0
    }
}
