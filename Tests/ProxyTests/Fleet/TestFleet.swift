internal import Dictionaries
internal import Foundation
internal import Primitives
internal import TestSupport
internal import Testing

@testable import Proxy
@testable import Redis
@testable import Storage

/// Nodes in this process that share one real Redis, each before an upstream of its own with the same script.
final class TestFleet {
    let redis: RedisServer
    private(set) var nodes: [TestProxy] = []
    private let settings: String
    private let keyFile: String
    private let script: Origin.Script
    private let timeout: Int
    /// The gate that the rest of a response to `X-Held` waits for; such a response begins while questions still wait.
    let rest = Gate()

    /// Starts so many nodes; each responds with the body of the version that `X-Version` names.
    ///
    /// - Parameter timeout: The longest wait for a reply of Redis, in milliseconds.
    init(
        _ count: Int, _ settings: String = "", fields: String = "Cache-Control: public, max-age=60",
        hasCommonKey: Bool = true, timeout: Int = patience
    ) throws {
        redis = try RedisServer()
        self.settings = settings
        self.timeout = timeout
        keyFile = hasCommonKey ? redis.folder + "/key" : ""
        script = { [rest] request, connection in
            let version = request["X-Version"].flatMap { Int($0) } ?? 0
            let body = Self.body(version)
            let isHeld = request["X-Held"] != nil
            guard isHeld || request["X-Slow"] != nil else { return _ = connection.send(json(body, fields)) }
            // The head goes out before the body is complete.
            let head = wire(
                "HTTP/1.1 200 OK", "Content-Type: application/json", fields, "Transfer-Encoding: chunked")
            connection.send(head + chunk(Array(body.prefix(2_000))))
            if isHeld { _ = rest.wait() } else { pauseBeyondTheHold() }
            connection.send(chunk(Array(body.dropFirst(2_000))) + chunk([]))
        }
        for _ in 0..<count { try addNode() }
    }

    deinit {
        for node in nodes { node.stop() }
    }

    /// The body of a version; each URL has the same.
    static func body(_ version: Int) -> [UInt8] { Feed.bytes(version: version, items: 40) }

    /// Starts one more node, and waits until it follows the others.
    @discardableResult
    func addNode(hasOwnKey: Bool = false) throws -> TestProxy {
        let own = keyFile.isEmpty ? nil : hasOwnKey ? keyFile + "-other" : keyFile
        let shared = Guarded<SharedStore?>(nil)
        let node = try TestProxy(
            try Origin { [script] request, connection in
                // A response goes out plain if the reply of Redis comes long after it, as on a busy machine.
                if request["X-Held"] == nil {
                    try? waitUntil("no question waits", seconds: 60) {
                        shared.withLock { $0 }?.state.withLock { $0.flights.isEmpty } ?? true
                    }
                }
                script(request, connection)
            }, settings,
            change: { [redis, timeout] configuration in
                configuration.store.shared = Self.store(at: redis.socket, timeout: timeout)
                configuration.store.keyFile = own
            })
        shared.withLock { $0 = node.server.context.sharedStore }
        nodes.append(node)
        try untilComplete(node)
        return node
    }

    /// The wait of tests whose server replies, however busy the machine is; in milliseconds.
    static let patience = 30_000

    /// The settings of a shared store at a socket.
    static func store(at path: String, timeout: Int = patience) -> RedisSettings {
        var store = RedisSettings(address: .unix(path: path))
        store.timeout = timeout
        return store
    }

    /// Stops a node and forgets it.
    func removeNode(_ place: Int) { nodes.remove(at: place).stop() }

    func shared(_ node: TestProxy) -> SharedStore? { node.server.context.sharedStore }

    /// Waits until a node knows all announcements.
    func untilComplete(_ node: TestProxy) throws {
        try waitUntil("the node follows the others") {
            guard let shared = shared(node), shared.state.withLock({ $0.isComplete }) else { return false }
            // A request may come to any loop, and each has a connection of its own.
            let ready = shared.client.gate(.request).ready.withLock(\.count)
            return ready == node.server.context.loopCount
        }
    }

    /// Waits until every node knows so many versions.
    func untilKnown(_ count: Int) throws {
        try waitUntil("every node knows \(count) versions") {
            nodes.allSatisfy { shared($0)?.statistics.known == count }
        }
    }

    /// Waits until every node knows the version with this key in Redis.
    func untilKnown(_ key: String) throws {
        try waitUntil("every node knows \(key)") {
            nodes.allSatisfy { node in
                guard let shared = shared(node), let name = SharedName(key: key) else { return false }
                return shared.state.withLock { $0.index.contains(name) }
            }
        }
    }

    /// Fetches a version from a node without a dictionary.
    @discardableResult
    func fetch(_ node: Int, version: Int, _ fields: String..., target: String = "/feed") throws -> WireMessage
    {
        try nodes[node].fetch(target, (["X-Version: \(version)"] + fields).joined(separator: "\r\n"))
    }

    /// Fetches a version from a node with the dictionary and the id that another node has given.
    func fetch(
        _ node: Int, version: Int, over held: Int, from giver: Int, _ fields: String...,
        target: String = "/feed"
    ) throws -> WireMessage {
        var all = ["X-Version: \(version)"] + fields
        if let id = nodes[giver].id(of: Self.body(held)) { all.append("Dictionary-ID: \"\(id)\"") }
        return try nodes[node].fetch(target, over: Self.body(held), all.joined(separator: "\r\n"))
    }

    /// The number of look-ups of a node with a result.
    func lookUps(_ node: Int, _ result: SharedLookUp) -> Int {
        shared(nodes[node])?.statistics.lookUps[result] ?? 0
    }

    /// The number of calls of a command that Redis has counted.
    func calls(_ command: String) throws -> Int {
        let lines = try redis.command("INFO", "commandstats").split(whereSeparator: \.isNewline)
        let line = lines.first { $0.hasPrefix("cmdstat_\(command):") }
        return line.flatMap { $0.firstMatch(of: /calls=([0-9]+)/) }.flatMap { Int($0.output.1) } ?? 0
    }

    /// The keys of versions in Redis.
    func keys() throws -> [String] {
        try redis.command("KEYS", "dictum:1:*v:*").split(whereSeparator: \.isNewline).map { String($0) }
    }
}

/// Returns true if an answer has a version exactly, as a delta over another one.
func isDelta(_ answer: WireMessage, of version: Int, over held: Int) throws -> Bool {
    let isExact = try answer.carriesDecoded(TestFleet.body(version), over: TestFleet.body(held))
    #expect(isExact, "\(answer)")
    return isExact && answer.coding.hasPrefix("dc")
}

extension SharedStore {
    /// Makes a shared store over a local store of its own, whose client is not started.
    static func ofTest(at socket: String) throws -> SharedStore {
        let store = try DictionaryStore(
            configuration: StoreConfiguration(path: ":memory:", maxBytes: 1 << 30))
        var settings = RedisSettings(address: .unix(path: socket))
        settings.timeout = 30_000
        let client = RedisClient(settings: settings) { _ in }
        return SharedStore(
            store: store, currentRoutes: Guarded(nil), client: client, commonKeys: nil, bytesMax: 32 << 20
        ) { _ in }
    }
}

extension SharedRecord {
    /// A record with a body of noise.
    static func ofTest(_ number: Int, in chain: ChainKey, count: Int = 300) -> SharedRecord {
        ofTest(Body(Noise.bytes(count, seed: UInt64(number))), in: chain)
    }

    static func ofTest(_ body: Body, in chain: ChainKey) -> SharedRecord {
        let facts = VersionFacts(
            digest: body.digest, url: "/feed", etag: nil, bytes: body.count,
            traits: VersionTraits(variant: "", contentType: nil, maxAge: 86_400))
        return SharedRecord(
            chain: chain, facts: facts, rank: SystemClock.unixMicroseconds, body: body)
    }
}
