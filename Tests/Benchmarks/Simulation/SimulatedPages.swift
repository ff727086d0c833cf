import Dictionaries
import Glibc
import Proxy
import Storage
import TestSupport

/// One day of browsers that view a page now and then; its script fetches the feed ten times per view.
///
/// The feed's responses are fresh for ten seconds, as those of most APIs. An announced dictionary has its own, longer
/// life, and costs each browser a download. `requests` counts the fetches that bring a body. Naming is as in
/// `LinkRegistry`, with its own measure of a name's worth.
struct SimulatedPages {
    /// The way in which clients get dictionaries.
    enum Rule: CaseIterable, Sendable {
        /// The store and the browsers keep everything, and no dictionary has to be downloaded.
        case oracle
        /// By the responses themselves, for as long as these are fresh.
        case inBand
        /// By the page.
        case announced

        var title: String {
            switch self {
            case .oracle: "nothing forgotten"
            case .inBand: "in band, fresh for 10 s"
            case .announced: "announced by the page"
            }
        }
    }

    /// A dictionary that a browser holds.
    private struct Held {
        let digest: Digest
        let second: Int
        let expiry: Int
    }

    private struct Browser {
        /// The dictionary that the page announced, which a fetch prefers, and the one that the last response offered.
        var announced: Held?
        var own: Held?
        /// The last received body: while the feed still has it, a fetch ends with 304.
        var current: Digest?
        /// The running download of a dictionary, and when it ends.
        var download: (held: Held, at: Int)?
    }

    private static let fetchesPerView = 10
    private static let secondsBetweenFetches = 13
    /// The time from the page's response until the dictionary has arrived, since browsers fetch it when they are idle.
    private static let downloadSeconds = 2
    private static let freshSeconds = 10
    private static let daySeconds = 86_400

    private let feed: SimulatedFeed
    private let scale: Int
    private let sizes: SizeModel
    private let rule: Rule
    private let store: DictionaryStore
    private let reader: DictionaryIndex.Reader
    private let chain = ChainKey(authority: "api.example", match: "/feed*")
    private var clients: SimulatedClients
    private var browsers: [Browser]
    /// The fetches to come, by their second; a view is shorter than that is long.
    private var schedule = [[Int]](repeating: [], count: 128)
    private var proof = PublicProof()
    private var worths: [Int64: NamedWorth] = [:]
    /// When each body was the feed's.
    private var seconds: [Digest: Int] = [:]
    private var lastProven: Digest?
    private var outcome = SimulatedDay.Outcome()
    private var packed = PackedFeed()
    private var (downloads, names) = (0, 0)

    /// `scale` divides clients and `max_size` alike.
    init(_ feed: SimulatedFeed, _ sizes: SizeModel, _ rule: Rule, scale: Int) throws {
        (self.feed, self.sizes, self.rule, self.scale) = (feed, sizes, rule, scale)
        clients = SimulatedClients(10_000 / scale, of: SimulatedClients.viewers, seed: 1)
        browsers = Array(repeating: Browser(), count: clients.held.count)
        // Small bodies stand for whole ones, so the limit allows as many versions as the default size holds packed.
        let storedBytes = 64 + 768
        var configuration = StoreConfiguration(
            path: ":memory:", maxBytes: (1 << 30) / scale / sizes.packedBytes * storedBytes)
        configuration.writeBytesPerSecond = 1 << 40
        store = try DictionaryStore(configuration: configuration)
        reader = store.reader()
    }

    /// Runs the day.
    mutating func run() throws -> TabledDay {
        let start = 10_000 * Self.daySeconds
        var (nextView, nextViewer) = clients.next()
        for second in 0..<Self.daySeconds {
            let now = start + second
            while nextView < Double(second + 1) {
                view(by: nextViewer, now: now)
                let (seconds, client) = clients.next()
                (nextView, nextViewer) = (nextView + seconds, client)
            }
            let due = schedule[second % schedule.count]
            schedule[second % schedule.count] = []
            for client in due { try fetch(by: client, now: now) }
            store.upkeep.sweep(now: now)
            if store.statistics.pendingWrites > 2_000 { store.upkeep.flush(timeoutSeconds: 60) }
            outcome.versionsMax = max(outcome.versionsMax, store.statistics.versions)
        }
        let statistics = store.statistics
        outcome.admissions = statistics.admissions
        outcome.evictions = statistics.evictions
        outcome.indexBytes = statistics.indexBytes
        store.close()
        return TabledDay(outcome: outcome, packed: packed, downloads: downloads, names: names)
    }

    // MARK: The browser

    /// A page view: the page names a dictionary, and its script will fetch.
    private mutating func view(by client: Int, now: Int) {
        for number in 0..<Self.fetchesPerView {
            schedule[(now + number * Self.secondsBetweenFetches) % schedule.count].append(client)
        }
        guard rule == .announced, let named = named(now: now), let second = seconds[named.digest] else {
            return
        }
        if let held = browsers[client].announced, held.digest == named.digest, now < held.expiry { return }
        let life = worths[named.id]?.lifeSeconds ?? Self.daySeconds
        let held = Held(digest: named.digest, second: second, expiry: now + life)
        browsers[client].download = (held, now + Self.downloadSeconds)
        worths[named.id]?.recordHolder(UInt128(client))
        downloads += 1
        outcome.sentBytes += sizes.plainBytes
    }

    private mutating func fetch(by client: Int, now: Int) throws {
        if let download = browsers[client].download, download.at <= now {
            browsers[client].announced = download.held
            browsers[client].download = nil
        }
        let (digest, second) = try current(for: client, now: now)
        if browsers[client].current == digest { return }
        browsers[client].current = digest
        outcome.requests += 1
        outcome.plainBytes += sizes.plainBytes
        let held = [browsers[client].announced, browsers[client].own].compactMap { $0 }.first {
            now < $0.expiry
        }
        let found = held.flatMap { find($0, now: now) }
        let deltaBytes = held.flatMap { held in
            rule == .oracle || found != nil
                ? sizes.deltaBytes(from: held.second, to: second) : nil
        }
        if held != nil { outcome.advertised += 1 }
        if deltaBytes != nil { outcome.found += 1 }
        outcome.sentBytes += deltaBytes ?? sizes.plainBytes
        let life = rule == .oracle ? 2 * Self.daySeconds : Self.freshSeconds
        browsers[client].own = Held(digest: digest, second: second, expiry: now + life)
        guard rule == .announced else { return }
        if let found { worths[found.id]?.recordUser(UInt128(client)) }
        consider(digest, second, now: now)
    }

    private func find(_ held: Held, now: Int) -> Version? {
        let found = reader.find(
            digest: held.digest, authority: "api.example", url: PathAndQuery(path: "/feed"))
        if let found { store.demand.advertised(found, now: now) }
        return found
    }

    /// The body that the feed has now, which the response offers.
    private mutating func current(for client: Int, now: Int) throws -> (Digest, Int) {
        let second = feed.periodSeconds.map { now / $0 * $0 } ?? now
        let number = feed.periodSeconds == nil ? -outcome.requests - 1 : second
        // The store gets a few bytes instead of the body, since the compared figures do not depend on the rest.
        let body = Body(Array("\(number)".utf8))
        guard rule != .oracle else { return (body.digest, second) }
        if let known = reader.version(chain: chain, digest: body.digest) {
            store.demand.offered(known, over: nil, now: now)
        } else {
            _ = try store.admission.admit(
                VersionCandidate(
                    body, key: VersionKey(chain: chain, url: "/feed", variant: ""),
                    policy: AdmissionPolicy(versions: 1_000_000), contentType: "application/json"), over: nil,
                now: now)
            seconds[body.digest] = second
            packed.admit(bodyOf: second, page: 0, sizes, times: scale)
        }
        let key = PublicProof.Key(body.digest, chain: chain, variant: "")
        proof.record(key, to: UInt128(client))
        if proof.isProven(key) { lastProven = body.digest }
        return (body.digest, second)
    }

    // MARK: Names

    /// The version that the page announces.
    private mutating func named(now: Int) -> Version? {
        let current = reader.named(chain: chain, variant: "", now: now)
        if let current, now < current.pinnedUntil - (worths[current.id]?.lifeSeconds ?? Self.daySeconds) {
            return current
        }
        return name(replacing: current, now: now) ?? current
    }

    private mutating func name(replacing former: Version?, now: Int) -> Version? {
        guard let lastProven, let fresh = reader.version(chain: chain, digest: lastProven),
            fresh.id != former?.id
        else { return nil }
        let worth = NamedWorth(
            namedAt: now, lifeSeconds: Self.daySeconds, replacing: former.flatMap { worths[$0.id] })
        guard store.demand.nameInLinks(fresh, replacing: former, until: now + 2 * worth.lifeSeconds, now: now)
        else {
            return nil
        }
        worths[fresh.id] = worth
        names += 1
        return fresh
    }

    /// Measures the worth of the named body for the current one, and names another if that pays.
    private mutating func consider(_ digest: Digest, _ second: Int, now: Int) {
        let terms = LinkTerms()
        guard let named = reader.named(chain: chain, variant: "", now: now), named.digest != digest,
            let namedSecond = seconds[named.digest],
            worths[named.id]?.isDue(with: digest, at: now, terms) == true
        else { return }
        worths[named.id]?.begin(with: digest, at: now)
        let sample = NamedWorth.Sample(
            named: sizes.deltaBytes(from: namedSecond, to: second),
            fresh: sizes.deltaBytes(from: second - (feed.periodSeconds ?? 1), to: second),
            plain: sizes.plainBytes)
        if worths[named.id]?.record(sample, of: sizes.bodyBytes, at: now, terms) == true {
            _ = name(replacing: named, now: now)
        }
    }
}
