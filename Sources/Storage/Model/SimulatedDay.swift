internal import Dictionaries

/// One day of one scenario: the real store and its policy, a clock that is counted.
package struct SimulatedDay {
    /// The policy that decides which bodies are kept and offered.
    package enum Rule: Equatable, Sendable {
        /// The store keeps every body, and every body is offered.
        case oracle
        /// Every body is offered.
        case always
        /// Bodies are offered if the store expects a gain.
        case renewal
    }

    package struct Outcome: Sendable {
        package var requests = 0
        /// The requests of clients that have fetched before.
        package var returns = 0
        package var advertised = 0
        package var found = 0
        package var sentBytes = 0
        /// The bytes of all deltas among those sent.
        package var deltaBytes = 0
        package var plainBytes = 0
        package var admissions = 0
        package var versionsMax = 0
        package var indexBytes = 0
        package var evictions: [StoreStatistics.Eviction: Int] = [:]

        package init() {}
    }

    private struct Current {
        let digest: Digest
        let body: Body
        let second: Int
        let page: Int
    }

    private let scenario: Scenario
    private let sizes: any ResponseSizes
    private let rule: Rule
    private let path: String
    private let maxBytes: Int
    private let scale: Int
    private var store: DictionaryStore?
    private var reader: DictionaryIndex.Reader?
    private var clients: SimulatedClients
    private let publicChain = ChainKey(authority: "api.example", match: "/feed*")
    private let keys: StoreKeys?
    private var hasFetched: [Bool]
    private var sharing = DeltaSharing()
    private var outcome = Outcome()
    /// Called with the second and the page of each admitted body.
    package var onAdmission: (Int, Int) -> Void = { _, _ in }

    /// Prepares a day; `scale` divides clients, newcomers and `max_size` alike.
    ///
    /// With `restarts`, the store is a file at `path`, which the caller removes.
    package init(
        _ scenario: Scenario, _ sizes: any ResponseSizes, _ rule: Rule, scale: Int, path: String = ":memory:"
    ) throws {
        self.scenario = scenario
        self.sizes = sizes
        self.rule = rule
        self.scale = scale
        clients = SimulatedClients(scenario.clients / scale, of: scenario.kinds, seed: 1)
        hasFetched = Array(repeating: false, count: clients.held.count)
        // Small bodies stand for whole ones, so the limit allows as many versions as the default size holds packed.
        let storedBytes = 64 + 768
        maxBytes = max(1 << 20, (1 << 30) / scale / sizes.packedBytes * storedBytes)
        keys = scenario.isPersonal ? StoreKeys(key: Array(repeating: 1, count: StoreKeys.byteCount)) : nil
        self.path = path
        if rule != .oracle { try open() }
    }

    private mutating func open() throws {
        var configuration = StoreConfiguration(path: path, maxBytes: maxBytes)
        // A day passes in seconds here.
        configuration.writeBytesPerSecond = 1 << 40
        if let keys {
            configuration.privateRows = .used(keys)
            // The number of personal versions that fit into a quarter of the default size. Each is compressed alone,
            // sealed, and has its row.
            configuration.privateBytesMax =
                maxBytes / 4 / (64 + 768) * sizes.packedBytes / (sizes.plainBytes + 1052) * 1088
        }
        let store = try DictionaryStore(configuration: configuration)
        self.store = store
        reader = store.reader()
    }

    package mutating func run() throws -> Outcome {
        // Any day; deploys happen at multiples of their period.
        let start = 10_000 * 86_400
        var (time, second) = (0.0, start)
        var arrived = 0
        var hasRestarted = !scenario.restarts
        while time < Double(scenario.seconds) {
            let (seconds, client) = clients.next()
            time += seconds
            let now = start + Int(time)
            while arrived < Int(time * Double(scenario.newcomersPerSecond)) / scale {
                arrived += 1
                visit(by: nil, number: -arrived, time: time, now: now)
            }
            for number in 0..<clients.pick(1...scenario.burstMax) where number == 0 || client >= 0 {
                outcome.requests += 1
                if number == 0 { burst = clients.held[client] }
                visit(by: client, number: outcome.requests, time: time, now: now)
            }
            while second < now {
                second += 1
                store?.upkeep.sweep(now: second)
            }
            if let store, outcome.requests % 64 == 0 {
                let versions = store.statistics.versions
                outcome.versionsMax = max(outcome.versionsMax, versions)
                // The store writes in real time.
                if store.statistics.pendingWrites > 2_000 { store.upkeep.flush(timeoutSeconds: 60) }
            }
            if !hasRestarted, time > Double(scenario.seconds / 2) {
                hasRestarted = true
                note(store?.statistics)
                store?.close()
                try open()
            }
        }
        note(store?.statistics)
        outcome.indexBytes = store?.statistics.indexBytes ?? 0
        store?.close()
        return outcome
    }

    private mutating func note(_ statistics: StoreStatistics?) {
        guard let statistics else { return }
        outcome.admissions += statistics.admissions
        outcome.evictions.merge(statistics.evictions, uniquingKeysWith: +)
    }

    /// The body that the client held when its burst began.
    private var burst: SimulatedClients.Held?

    /// Simulates one request of a client; nil means a newcomer, which makes only this request.
    private mutating func visit(by client: Int?, number: Int, time: Double, now: Int) {
        let page = scenario.urls == 1 ? 0 : ((client ?? 0) * 7 + clients.pick(0...4) * 101) % scenario.urls
        let current = current(of: client, number: number, page: page, now: now)
        var held = client == nil ? nil : burst
        if let known = held, time >= known.expiry { held = nil }
        let found = held.flatMap { find($0, now: now) }
        var deltaBytes: Int?
        if let held, rule == .oracle || found != nil {
            deltaBytes = self.deltaBytes(over: held, for: current)
        }
        if let client {
            outcome.plainBytes += sizes.plainBytes
            outcome.sentBytes += deltaBytes ?? sizes.plainBytes
            if hasFetched[client] { outcome.returns += 1 }
            hasFetched[client] = true
            if held != nil { outcome.advertised += 1 }
            if let deltaBytes {
                outcome.found += 1
                outcome.deltaBytes += deltaBytes
            }
        }
        let isOffered = offer(
            current, to: client, over: found, deltaBytes: deltaBytes, url: client == nil ? number : page,
            now: now)
        guard let client, isOffered, !clients.happens(percent: scenario.lostPercent) else { return }
        clients.held[client] = .init(
            digest: current.digest, second: current.second, page: page,
            expiry: time + Double(scenario.lifeSeconds))
    }

    /// Returns the feed's current body, for all clients or for one.
    private func current(of client: Int?, number: Int, page: Int, now: Int) -> Current {
        let number =
            number < 0 ? number : scenario.periodSeconds.map { now / $0 * 1000 + page } ?? number
        let second = scenario.periodSeconds.map { now / $0 * $0 } ?? now
        // The store gets a few bytes instead of the body, since the compared figures do not depend on the rest.
        let owner = scenario.isPersonal ? client.map { "\($0): " } ?? "newcomer: " : ""
        let body = Body(Array("\(owner)\(number)".utf8))
        return Current(digest: body.digest, body: body, second: second, page: page)
    }

    private mutating func deltaBytes(over held: SimulatedClients.Held, for current: Current) -> Int {
        let stage =
            scenario.countsSharing
            ? sharing.stage(of: current.digest, over: held.digest, clients: scale) : .first
        let bytes = sizes.deltaBytes(from: held.second, to: current.second, stage)
        return held.page == current.page ? bytes : max(bytes, sizes.otherURLBytes)
    }

    private func find(_ held: SimulatedClients.Held, now: Int) -> Version? {
        let found =
            keys == nil
            ? reader?.find(digest: held.digest, authority: "api.example", url: PathAndQuery(path: "/feed"))
            : chain(of: held.digest).flatMap { reader?.version(chain: $0, digest: held.digest) }
        if let found { store?.demand.advertised(found, now: now) }
        return found
    }

    /// The chain that a body is a version of.
    private func chain(of digest: Digest) -> ChainKey? {
        guard let keys else { return publicChain }
        return keys.personalChain(of: digest, like: publicChain)
    }

    /// Returns whether the response offers its body.
    private mutating func offer(
        _ current: Current, to client: Int?, over former: Version?, deltaBytes: Int?, url: Int, now: Int
    ) -> Bool {
        guard let store, let reader, let chain = chain(of: current.digest) else { return true }
        if let former, let deltaBytes { former.recordDelta(bytes: deltaBytes) }
        var encounter = Encounter(
            digest: current.digest, key: VersionKey(chain: chain, url: "/feed\(url)", variant: ""))
        // The index compares digests, which is enough for bodies of a few bytes.
        encounter.isNewest = true
        encounter.isAlwaysTaken = rule != .renewal
        (encounter.held, encounter.deltaBytes) = (former, deltaBytes)
        encounter.lifeSeconds = scenario.lifeSeconds
        switch encounter.outcome(in: reader, now: now) {
        case .newest(let known), .elsewhere(let known):
            store.demand.offered(known, over: former, now: now)
            return true
        case .admission: return admit(current, encounter.key, to: client, over: former, now: now)
        case .nothing: return false
        }
    }

    private mutating func admit(
        _ current: Current, _ key: VersionKey, to client: Int?, over former: Version?, now: Int
    ) -> Bool {
        guard let store, let reader else { return false }
        let isKnown = reader.version(chain: key.chainKey, digest: current.digest) != nil
        var policy = AdmissionPolicy(versions: 1_000_000)
        // All made-up logins come from one network.
        policy.network = client.map { UInt16($0 % 1000) } ?? 1023
        let admitted = try? store.admission.admit(
            VersionCandidate(
                current.body, key: key, policy: policy, contentType: "application/json"),
            over: former, now: now)
        if admitted != nil, !isKnown { onAdmission(current.second, current.page) }
        return admitted != nil
    }
}
