import Dictionaries
import Primitives
import Storage

/// A day of clients who meet any node of a fleet, whose nodes share one memory in Redis.
///
/// The stores, the index of announcements and the records are the real ones; Redis is a table.
final class SimulatedFleet {
    /// The fleet and what happens to it.
    struct Plan: Sendable {
        let title: String
        var nodes = 3
        var clients = 100_000
        /// The seconds between two bodies; nil for a new body in every response.
        var periodSeconds: Int?
        var isShared = true
        /// True if every half an hour a node goes, and an empty one comes ten minutes later.
        var comesAndGoes = false
        /// True if Redis is unreachable for ten minutes at two in the afternoon.
        var hasOutage = false
    }

    /// The counts of a span of time.
    struct Share {
        var advertised = 0
        var found = 0
    }

    /// The counts of the day.
    struct Outcome {
        var requests = 0
        var all = Share()
        var outage = Share()
        /// The ten minutes after the outage.
        var recovery = Share()
        var fromRedis = 0
        var commands = 0
        var bytesToRedis = 0
        var bytesFromRedis = 0
        var bytesInRedis = 0
        var sentBytes = 0
        var plainBytes = 0
        var admissions = 0
    }

    /// One node: a store, and what it has learnt of the others.
    private final class Node {
        let store: DictionaryStore
        let reader: DictionaryIndex.Reader
        var index = SharedIndex()
        let unpublished = Guarded([SharableVersion]())
        /// The newest version of another node, and the second at which it is to be fetched.
        var newest: (name: SharedName, second: Int)?
        /// The version that was fetched in advance last, and the pause after it.
        var fetched: Version?
        var pause = 1
        var fetchesAt = 0
        var returnsAt: Int?

        /// Waits twice as long after each version that nobody has used.
        func noteFetch(_ version: Version?, now: Int) {
            pause = fetched != nil && fetched?.lastDeltaBytes == nil ? min(2 * pause, 300) : 1
            fetched = version
            fetchesAt = now + pause
        }

        init(maxBytes: Int, isShared: Bool) throws {
            var configuration = StoreConfiguration(path: ":memory:", maxBytes: maxBytes)
            // A day passes in seconds here.
            configuration.writeBytesPerSecond = 1 << 40
            let store = try DictionaryStore(configuration: configuration)
            self.store = store
            reader = store.reader()
            guard isShared else { return }
            let unpublished = unpublished
            store.sharing.share(
                with: StoreListener(
                    admitted: { version, candidate in
                        unpublished.withLock { $0.append(SharableVersion(version, candidate, nil)) }
                    },
                    established: { [weak store] chain in
                        guard let store else { return }
                        unpublished.withLock { $0 += store.sharing.readSharable(of: chain) }
                    }))
        }
    }

    /// A body that a client holds, and the second that it is of.
    private struct Held {
        let digest: Digest
        let second: Int
    }

    private let plan: Plan
    private let sizes: SizeModel
    private let scale: Int
    private let maxBytes: Int
    private let chain = ChainKey(authority: "api.example", match: "/feed*")
    private var clients: SimulatedClients
    private var held: [Held?]
    private var nodes: [Node] = []
    private var values: [SharedName: SharedRecord] = [:]
    private var news: [SharedNews] = []
    /// The holders that the nodes have told each other of; each node keeps these numbers, here one does for all.
    private var holders: [SharedName: Int] = [:]
    /// Versions that have lost a holder, and the second at which they may go.
    private var superseded: [(name: SharedName, second: Int)] = []
    private static let supersededSeconds = 60
    private var isRedisUp = true
    private var outcome = Outcome()
    private let start = 10_000 * 86_400
    private let outageBegin = 14 * 3600
    private static let outageSeconds = 600
    /// The share of questions whose reply comes after the deadline.
    private static let latePercent = 1
    private static let newsMax = 100_000

    /// The value of a version in Redis: its facts, and its body compressed alone.
    private var recordBytes: Int { sizes.plainBytes + 400 }

    init(_ plan: Plan, _ sizes: SizeModel, scale: Int) throws {
        self.plan = plan
        self.sizes = sizes
        self.scale = scale
        clients = SimulatedClients(plan.clients / scale, seed: 1)
        held = Array(repeating: nil, count: clients.held.count)
        // Small bodies stand for whole ones, so the limit allows as many versions as the default size holds packed.
        maxBytes = max(1 << 20, (1 << 30) / scale / sizes.packedBytes * (64 + 768))
        for _ in 0..<plan.nodes { try nodes.append(Node(maxBytes: maxBytes, isShared: plan.isShared)) }
    }

    /// Runs the day.
    func run() throws -> Outcome {
        var (time, second) = (0.0, 0)
        while second < 86_400 {
            let (seconds, client) = clients.next()
            time += seconds
            while second < Int(time) {
                second += 1
                try tick(second)
            }
            outcome.requests += 1
            visit(by: client, second: second)
            if outcome.requests % 64 == 0 {
                for node in nodes where node.store.statistics.pendingWrites > 2_000 {
                    node.store.upkeep.flush(timeoutSeconds: 60)
                }
            }
        }
        outcome.admissions = nodes.reduce(0) { $0 + $1.store.statistics.admissions }
        for node in nodes { node.store.close() }
        return outcome
    }

    // MARK: Requests

    private func visit(by client: Int, second: Int) {
        let now = start + second
        let running = nodes.indices.filter { nodes[$0].returnsAt == nil }
        let node = nodes[running[clients.pick(0...running.count - 1)]]
        let number = plan.periodSeconds.map { now / $0 } ?? outcome.requests
        let bodySecond = plan.periodSeconds.map { now / $0 * $0 } ?? now
        let body = Body(Array(String(number).utf8))
        let held = held[client]
        let found = held.flatMap { find($0.digest, at: node, now: now) }
        let deltaBytes = held.flatMap { held in
            found.map { _ in sizes.deltaBytes(from: held.second, to: bodySecond) }
        }
        count(held != nil, found != nil, second: second)
        outcome.plainBytes += sizes.plainBytes
        outcome.sentBytes += deltaBytes ?? sizes.plainBytes
        guard offer(body, by: node, to: client, over: found, deltaBytes: deltaBytes, now: now) else { return }
        self.held[client] = Held(digest: body.digest, second: bodySecond)
        publish(from: node, now: now)
    }

    private func count(_ advertised: Bool, _ found: Bool, second: Int) {
        guard advertised else { return }
        func add(_ share: inout Share) {
            share.advertised += 1
            if found { share.found += 1 }
        }
        add(&outcome.all)
        guard plan.hasOutage, second >= outageBegin else { return }
        let since = second - outageBegin
        if since < Self.outageSeconds {
            add(&outcome.outage)
        } else if since < 2 * Self.outageSeconds {
            add(&outcome.recovery)
        }
    }

    private func find(_ digest: Digest, at node: Node, now: Int) -> Version? {
        let url = PathAndQuery(path: "/feed")
        let local = node.reader.find(digest: digest, authority: chain.authority, url: url)
        if let local {
            node.store.demand.advertised(local, now: now)
            return local
        }
        guard isRedisUp,
            let name = node.index.candidates(digest, authority: chain.authority).first(covering: url)
        else {
            return nil
        }
        let isLate = clients.happens(percent: Self.latePercent)
        guard let version = fetch(name, to: node, now: now), !isLate else { return nil }
        outcome.fromRedis += 1
        node.store.demand.advertised(version, now: now)
        return version
    }

    private func fetch(_ name: SharedName, to node: Node, now: Int) -> Version? {
        outcome.commands += 1
        guard let record = values[name] else {
            for node in nodes { node.index.remove(name) }
            return nil
        }
        outcome.bytesFromRedis += recordBytes
        let told = SharedDemand(name: name, change: Int32(max(0, holders[name] ?? 0)), contact: 0)
        return try? node.store.sharing.adopt(record, told: told, now: now)
    }

    /// Returns whether the response offers its body, by the same rules as the proxy.
    private func offer(
        _ body: Body, by node: Node, to client: Int, over former: Version?, deltaBytes: Int?, now: Int
    ) -> Bool {
        if let former, let deltaBytes { former.recordDelta(bytes: deltaBytes) }
        if let known = node.reader.version(chain: chain, digest: body.digest) {
            node.store.demand.offered(known, over: former, now: now)
            return true
        }
        if let former,
            !Renewal(of: former, lifeSeconds: 86_400, deltaBytes: deltaBytes, now: now).isDue,
            !node.index.contains(body.digest, in: chain), !former.recordUnkept(body.digest)
        {
            return false
        }
        var policy = AdmissionPolicy(versions: 1_000_000)
        policy.network = UInt16(client % 1000)
        let candidate = VersionCandidate(
            body, key: VersionKey(chain: chain, url: "/feed0", variant: ""), policy: policy,
            contentType: "application/json")
        return (try? node.store.admission.admit(candidate, over: former, now: now)) != nil
    }

    // MARK: Redis

    /// Writes the new versions of a node, unless another node has done so, and announces them.
    private func publish(from node: Node, now: Int) {
        let versions = node.unpublished.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        guard isRedisUp else { return }
        var announced: [SharedNews] = []
        for version in versions {
            guard let name = version.name(nil), !node.index.contains(name) else { continue }
            outcome.commands += 1
            if values[name] == nil {
                values[name] = version.record
                outcome.bytesToRedis += recordBytes
            }
            announced.append(SharedNews(of: version.record, named: name))
        }
        guard !announced.isEmpty else { return }
        outcome.commands += 1
        news += announced
        for other in nodes where other.returnsAt == nil {
            for one in announced { heed(one, by: other, isOwn: other === node, now: now) }
        }
    }

    private func heed(_ news: SharedNews, by node: Node, isOwn: Bool, now: Int) {
        guard node.index.insert(news, now: now), !isOwn,
            node.store.sharing.isInDemand(chain, since: now - 3600)
        else { return }
        node.newest = (news.name, now + 1)
    }

    // MARK: Time

    private func tick(_ second: Int) throws {
        let now = start + second
        for node in nodes where node.returnsAt == nil {
            node.store.upkeep.sweep(now: now)
            if let newest = node.newest, newest.second <= now, node.fetchesAt <= now {
                node.newest = nil
                if isRedisUp, node.store.sharing.version(newest.name, chain: chain) == nil {
                    node.noteFetch(fetch(newest.name, to: node, now: now), now: now)
                }
            }
        }
        if plan.isShared, isRedisUp, second % 10 == 0 {
            tellHolders(second)
            removeSuperseded(second)
        }
        outcome.bytesInRedis = max(outcome.bytesInRedis, values.count * recordBytes)
        if plan.hasOutage {
            if second == outageBegin { isRedisUp = false }
            if second == outageBegin + Self.outageSeconds {
                isRedisUp = true
                for node in nodes { repeatUnknown(of: node, now: now) }
            }
        }
        if plan.comesAndGoes { try changeNodes(second) }
    }

    /// Exchanges the changes of holder counts.
    private func tellHolders(_ second: Int) {
        for node in nodes where node.returnsAt == nil {
            let changes = node.store.sharing.takeDemand(max: 2000, keys: nil)
            guard !changes.isEmpty else { continue }
            outcome.commands += 1
            for change in changes {
                holders[change.name, default: 0] += Int(change.change)
                for other in nodes where other !== node && other.returnsAt == nil {
                    if let version = other.store.sharing.version(change.name, chain: chain) {
                        other.store.sharing.add(change, to: version)
                    }
                }
                if change.change < 0 { superseded.append((change.name, second + Self.supersededSeconds)) }
            }
        }
    }

    /// Removes what nobody has held for a minute.
    private func removeSuperseded(_ second: Int) {
        let due = superseded.prefix { $0.second <= second }
        for (name, _) in due where holders[name] ?? 0 <= 0 && values.removeValue(forKey: name) != nil {
            for node in nodes { node.index.remove(name) }
        }
        superseded.removeFirst(due.count)
    }

    /// Writes the held versions that no announcement names, after an outage.
    private func repeatUnknown(of node: Node, now: Int) {
        let versions = node.store.sharing.versionsToShare(max: 10_000).filter { version in
            version.sharedName(nil).map { !node.index.contains($0) } ?? false
        }
        let bodies = versions.compactMap { version in
            node.store.hotBody(of: version).map { node.store.sharing.readSharable(version, $0) }
        }
        node.unpublished.withLock { $0 += bodies }
        publish(from: node, now: now)
    }

    private func changeNodes(_ second: Int) throws {
        for (place, node) in nodes.enumerated() where node.returnsAt == second {
            node.store.close()
            let fresh = try Node(maxBytes: maxBytes, isShared: plan.isShared)
            if plan.isShared, isRedisUp {
                for one in news.suffix(Self.newsMax) { fresh.index.insert(one, now: start + second) }
            }
            nodes[place] = fresh
        }
        guard second % 1800 == 0 else { return }
        let leaving = nodes[second / 1800 % nodes.count]
        if leaving.returnsAt == nil { leaving.returnsAt = second + 600 }
    }
}
