internal import Dictionaries
internal import Primitives
internal import Storage

/// Measures what dictionaries would save on observed routes, beside the traffic.
///
/// It admits bodies to the store as a live route does, decides what each client would hold, and makes the deltas that
/// clients would get, by the same functions. All of that runs on the pool that codes large bodies, within a budget of
/// processor time, and only while the pool has little else to do. Safe from any thread.
final class Observer: Sendable {
    /// With more bytes waiting, the pool is for responses alone.
    private static let waitingBytesMax = 4 << 20

    let memory: MemoryBudget
    let copies: MemoryShare
    let store: DictionaryStore
    let coding: CodingResources
    let budget: Guarded<ObservationBudget>
    let clients = Guarded(ObservedClients())
    let routes = Guarded(ObservedRoutes())
    let plainSizes = Guarded(FadingTable<PlainKey, Int>(countMax: 4_096))
    /// Makes the numbers of clients; it is never stored.
    private let seed = UInt64.random(in: .min ... .max)

    struct PlainKey: Hashable, Sendable {
        let body: Digest
        let codings: [ContentCoding]
    }

    /// - Parameter bytesMax: The memory for copies of bodies that wait to be measured.
    init(store: DictionaryStore, coding: CodingResources, _ configuration: Configuration, bytesMax: Int) {
        self.store = store
        self.coding = coding
        memory = MemoryBudget(bytes: bytesMax)
        copies = MemoryShare(of: memory)
        budget = Guarded(
            ObservationBudget(
                cpuShare: configuration.observe.cpuShare, now: SystemClock.monotonicNanoseconds))
        adopt(configuration)
    }

    func adopt(_ configuration: Configuration) {
        let (now, observed) = (SystemClock.monotonicNanoseconds, configuration.observedRoutes)
        budget.withLock {
            $0.allowance.cpuShare = configuration.observe.cpuShare
            $0.observing.run(!observed.isEmpty, now: now)
        }
        routes.withLock { $0.adopt(observed, now: now) }
    }

    /// The observations so far, by group of URLs.
    var reports: [ObservedRoutes.Key: SavingsReport.Observed] {
        routes.withLock { $0.tallies.mapValues(\.report) }
    }

    var cost: SavingsReport.Observing {
        let budget = budget.withLock { $0 }
        return .init(
            cpuAllowed: budget.allowance.cpuShare,
            cpuUsed: budget.cpuUsed(now: SystemClock.monotonicNanoseconds),
            cpuSeconds: Double(budget.spentNanoseconds) / 1e9, clientShare: budget.clientShare)
    }

    // MARK: On the loop

    /// Returns the number of a client, by what tells it from others; without this process's key it tells nothing.
    func number(of parts: some Sequence<[UInt8]>) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(seed)
        for part in parts { hasher.combine(part) }
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    /// Returns the number of clients that an observed client stands for; nil if this one is not observed.
    func weight(of client: UInt64?) -> Double? {
        budget.withLock { budget in
            budget.renew(now: SystemClock.monotonicNanoseconds)
            return client.map(budget.observes) ?? (budget.halvings == 0) ? 1 / budget.clientShare : nil
        }
    }

    /// Counts a response that can neither use nor become a dictionary.
    func count(_ obstacle: Reason, of key: ObservedRoutes.Key, fields: [String: String]) {
        routes.withLock {
            $0.change(key) { tally in
                tally.totals.responses += 1
                tally.totals.obstacles[obstacle.text, default: 0] += 1
                tally.totals.fields = fields
            }
        }
    }

    func countSkipped(_ key: ObservedRoutes.Key) {
        routes.withLock { $0.change(key) { $0.totals.skipped += 1 } }
    }

    /// Has a response measured, or leaves it out.
    func submit(_ seen: ObservedResponse) {
        let mayBegin = budget.withLock { $0.mayBegin(now: SystemClock.monotonicNanoseconds) }
        guard mayBegin, coding.pool.waitingBytes <= Self.waitingBytesMax,
            coding.pool.submit(bytes: seen.body.bytes.count, { self.begin(seen) })
        else { return countSkipped(seen.resource) }
    }

    /// Records that a client was told that it holds the current response, which renews its dictionary.
    func confirm(_ seen: ObservedResponse) {
        routes.withLock {
            $0.change(seen.resource) { tally in
                tally.totals.revisits += 1
                tally.totals.unchanged += 1
            }
        }
        guard let tag = seen.entityTag, !seen.target.isProvisional, let client = seen.clientKey,
            seen.asked.entitlement.obstacleToOffer(of: seen.facts) == nil
        else { return }
        guard let version = store.reader().version(seen.target.key, etag: tag) else { return }
        store.demand.touch(version, now: seen.seconds)
        clients.withLock { clients in
            guard case .holding(let held) = clients.visit(client, nowMilliseconds: seen.milliseconds),
                held.version.chainKey == version.chainKey, held.version.digest == version.digest
            else { return }
            let renewed = ObservedClients.Held(
                version: version, digest: held.digest, expiry: seen.expiry, number: held.number, url: held.url
            )
            clients.keep(renewed, for: client)
        }
    }

    // MARK: On the pool

    struct Identified: Sendable {
        let seen: ObservedResponse
        let facts: ResponseFacts
        let key: VersionKey
        let body: Body
        let isNewest: Bool
        /// The newest version before the body came; it may have the same body.
        let former: Storage.Version?
        /// The number of the body among the versions of its URL, and whether it came for the first time.
        let number: Int
        let isNew: Bool

        /// The opaque-tag by which a client asks for the body again.
        var entityTag: String? {
            seen.entityTag ?? (seen.takesMadeTag ? EntityTag(ETagForm.made(of: body.digest))?.opaque : nil)
        }
    }

    private func begin(_ seen: ObservedResponse) {
        timed {
            guard let identified = identify(seen) else { return }
            let visit = visit(seen)
            guard case .holding(let held) = visit else { return finish(identified, visit, nil) }
            if let body = store.hotBody(of: held.version) { return finish(identified, visit, body) }
            // The loader's queue must not be kept.
            store.load(held.version) { body in
                let isTaken = self.coding.pool.submit(bytes: seen.body.bytes.count, mustRun: true) {
                    self.timed { self.finish(identified, visit, body) }
                }
                if !isTaken { self.countSkipped(seen.resource) }
            }
        }
    }

    /// Runs work and charges its processor time.
    func timed<Result>(_ work: () -> Result) -> Result {
        let begin = SystemClock.threadNanoseconds
        defer {
            let spent = SystemClock.threadNanoseconds - begin
            budget.withLock { $0.charge(spent, now: SystemClock.monotonicNanoseconds) }
        }
        return work()
    }

    func hasPlenty() -> Bool {
        budget.withLock { $0.allowance.hasPlenty(now: SystemClock.monotonicNanoseconds) }
    }

    /// Compares a body with the newest version, else hashes it; counts and drops one that cannot become a version.
    private func identify(_ seen: ObservedResponse) -> Identified? {
        var facts = seen.facts
        guard let bytes = seen.body.decoded(bytesMax: seen.route.policy.bodyBytesMax) else {
            count(.ineligibleSize, of: seen.resource, fields: seen.fields)
            return nil
        }
        facts.coding = .none
        facts.bodyBytes = bytes.count
        facts.isBodyWhole = true
        if let reason = seen.asked.entitlement.obstacleToAdmission(of: facts) {
            count(reason, of: seen.resource, fields: seen.fields)
            return nil
        }
        let reader = store.reader()
        let former = seen.target.isProvisional ? nil : reader.newest(seen.target.key)
        let newest = former.flatMap { $0.bytes == bytes.count ? store.hotBody(of: $0) : nil }
        let isSame = newest?.hasBytes(bytes) ?? false
        let body = isSame ? newest ?? Body(bytes) : Body(bytes)
        guard let key = seen.target.settled(body.digest, store.keys)?.key else { return nil }
        let (number, isNew) = clients.withLock { $0.number(of: body.digest, url: seen.urlNumber) }
        return Identified(
            seen: seen, facts: facts, key: key, body: body, isNewest: isSame, former: former,
            number: number, isNew: isNew)
    }

    /// Returns what the client would hold, as far as the store has it still.
    private func visit(_ seen: ObservedResponse) -> ObservedClients.Visit {
        guard let key = seen.clientKey else { return .first }
        let visit = clients.withLock { $0.visit(key, nowMilliseconds: seen.milliseconds) }
        guard case .holding(var held) = visit else { return visit }
        // The body may have come to the chain once more, for another URL or variant.
        guard let version = store.reader().version(chain: held.version.chainKey, digest: held.digest),
            version.serves(seen.target.audience)
        else { return .again(.evicted) }
        held.version = version
        return .holding(held)
    }
}
