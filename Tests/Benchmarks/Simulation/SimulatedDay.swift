import Dictionaries
import TestSupport

/// One day of one feed with one setting: the real store and its policy, a clock that is counted.
struct SimulatedDay {
    /// What came of it.
    struct Outcome: Sendable {
        var requests = 0
        var deltas = 0
        var advertised = 0
        var evicted = 0
        var sentBytes = 0
        var plainBytes = 0
        var admissions = 0
    }

    private let feed: SimulatedFeed
    private let sizes: SizeModel
    private let store: DictionaryStore
    private let reader: DictionaryIndex.Reader
    private let versions: Int
    private var clients = SimulatedClients(seed: 1)
    private let chain = ChainKey(authority: "api.example", match: "/feed")
    private var newest: (number: Int, digest: Digest)?
    private var outcome = Outcome()

    init(_ feed: SimulatedFeed, _ sizes: SizeModel, versions: Int, policy: ChurnPolicy) throws {
        self.feed = feed
        self.sizes = sizes
        self.versions = versions
        var configuration = StoreConfiguration(path: ":memory:")
        configuration.churn = policy
        // A day passes in seconds here.
        configuration.writeBytesPerSecond = 1 << 40
        store = try DictionaryStore(configuration: configuration)
        reader = store.reader()
    }

    /// Runs the day.
    mutating func run() -> Outcome {
        // Any day; deploys happen at multiples of their period.
        let start = 10_000 * 86_400
        var time = 0.0
        var swept = 0
        while time < 86_400 {
            let (seconds, client) = clients.next()
            time += seconds
            let now = start + Int(time)
            outcome.requests += 1
            let number = feed.periodSeconds.map { now / $0 } ?? outcome.requests
            let second = feed.periodSeconds.map { now / $0 * $0 } ?? now
            answer(client, second: second, time: time, now: now)
            if isOffered(number, now: now), let newest {
                clients.held[client] = .init(
                    digest: newest.digest, second: second, expiry: time + SimulatedClients.keptSeconds)
            }
            if now - swept >= 60 {
                swept = now
                store.sweep(now: now)
            }
        }
        let statistics = store.statistics
        outcome.admissions = statistics.admissions
        outcome.evicted = statistics.advertisedEvicted
        store.close()
        return outcome
    }

    /// Counts one answer, over the dictionary that the client advertises if the store has it.
    private mutating func answer(_ client: Int, second: Int, time: Double, now: Int) {
        outcome.plainBytes += sizes.plainBytes
        guard let held = clients.held[client], time < held.expiry else {
            outcome.sentBytes += sizes.plainBytes
            return
        }
        outcome.advertised += 1
        let found = reader.find(digest: held.digest, authority: "api.example", path: "/feed", query: nil)
        if let found {
            store.touch(found, now: now)
            _ = store.noteFound(found, path: "/feed", query: nil, now: now, route: "/feed")
            outcome.deltas += 1
            outcome.sentBytes += sizes.deltaBytes(from: held.second, to: second)
        } else {
            store.noteMissing(held.digest, chain: chain, path: "/feed", query: nil, now: now, route: "/feed")
            outcome.sentBytes += sizes.plainBytes
        }
    }

    /// Whether the answer offers its body: as the proxy decides it, one that is the newest or becomes it.
    private mutating func isOffered(_ number: Int, now: Int) -> Bool {
        if newest?.number == number { return true }
        // The store sees a few bytes instead of the body: nothing that is compared depends on more.
        let body = Body(Array("\(number)".utf8))
        guard store.claimAdmission(of: body.digest, to: chain, now: now) else { return false }
        let admitted = try? store.admit(
            body, chain: chain, url: "/feed", variant: "", etag: nil, contentType: "application/json",
            policy: AdmissionPolicy(versions: versions), now: now)
        guard admitted != nil else { return false }
        newest = (number, body.digest)
        return true
    }
}
