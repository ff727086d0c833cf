internal import Dictionaries
internal import Primitives
internal import Storage

/// Chooses the stored versions that Links name: proven public ones, replaced as soon as that pays.
///
/// The store keeps the names over restarts. Safe from any thread.
final class LinkRegistry: Sendable {
    /// A public body on its way to a client.
    struct Sighting {
        let body: Body
        let chain: ChainKey
        let variant: String
        let url: String
        /// The time that browsers keep the response as a dictionary.
        let keptSeconds: Int
        /// The client, if the request carries no personal fields.
        let client: LinkClient?
        /// The page whose script sent the request, and its client.
        let source: (page: LearnedPages.Key, client: UInt128)?
        /// The chain of the route's built dictionary, which pages announce in place of the body's own.
        var built: ChainKey?

        /// The chain that pages may announce for such requests.
        var announced: ChainKey { built ?? chain }
    }

    private struct State {
        var proof = PublicProof()
        var soleClient = SoleClient()
        var pages = LearnedPages()
        var chains = ChainRecords()
        /// By the row of the named version.
        var worths: [Int64: NamedWorth] = [:]
        /// The hosts that were given a built dictionary since the start.
        var builtFor: Set<String> = []

        /// Watches a name from its first use after a restart.
        mutating func watch(_ named: Version, lifeSeconds: Int, now: Int) {
            guard worths[named.id] == nil, worths.count < LinkRegistry.watchedMax else { return }
            worths[named.id] = NamedWorth(namedAt: now, lifeSeconds: lifeSeconds)
        }
    }

    /// The number of names whose worth is watched; further names last their whole life.
    private static let watchedMax = 10_000
    /// Clients can invent Host fields, and each host has a chain of its own for a built dictionary.
    private static let builtForMax = 64

    private let store: DictionaryStore
    private let worker: BackgroundWorker
    private let terms: LinkTerms
    private let state = Guarded(State())

    init(store: DictionaryStore, worker: BackgroundWorker, terms: LinkTerms = .init()) {
        self.store = store
        self.worker = worker
        self.terms = terms
    }

    // MARK: Responses

    /// Records a public body on its way to a client; returns whether the body is proven to be public, and whether it is time to
    /// ask the operator if the client is a balancer.
    func record(_ sighting: Sighting, now: Int) -> (isProven: Bool, isTimeToAsk: Bool) {
        state.withLock { state in
            var (isProven, isTimeToAsk) = (false, false)
            if let client = sighting.client {
                if let address = client.address {
                    let key = PublicProof.Key(
                        sighting.body.digest, chain: sighting.chain, variant: sighting.variant)
                    state.proof.record(key, to: address)
                    isProven = state.proof.isProven(key)
                    state.chains.change(sighting.chain, openedBy: address) {
                        $0.keptSeconds = sighting.keptSeconds
                        if isProven { $0.proven = (sighting.body.digest, sighting.variant) }
                    }
                }
                isTimeToAsk = state.soleClient.record(client, now: now)
            }
            if let source = sighting.source {
                if let built = sighting.built {
                    state.chains.changeBuilt(built, openedBy: source.client)
                }
                let chains = state.chains
                state.pages.recordFetch(
                    of: sighting.announced, after: source.page, by: source.client, now: now
                ) {
                    chains[$0]?.ledger.isProven == true
                }
            }
            return (isProven, isTimeToAsk)
        }
    }

    /// Changes the ledger of a chain, given by its hash, if the chain is known.
    func changeLedger(of chain: Int, _ change: (inout AnnouncementLedger) -> Void) {
        state.withLock { $0.chains.changeIfPresent(chain) { change(&$0.ledger) } }
    }

    func recordUser(of version: Version, client: UInt128) {
        state.withLock { $0.worths[version.id]?.recordUser(client) }
    }

    /// Records a response of `bodyBytes` sent as a delta over a named version.
    func recordSaving(over version: Version, bodyBytes: Int, sentBytes: Int, client: UInt128) {
        state.withLock { state in
            guard let worth = state.worths[version.id] else { return }
            let measured = state.chains[version.chainKey]?.savings.plainPerMille
            let saved = bodyBytes * (measured ?? worth.plainPerMille) / 1000 - sentBytes
            state.chains.changeIfPresent(version.chainKey.hashValue) {
                $0.ledger.recordSaving(saved, of: client)
            }
        }
    }

    func recordDownload(of version: Version, sentBytes: Int, client: UInt128, now: Int) {
        state.withLock { state in
            // What is not watched saves nothing by this ledger, so that it costs nothing either.
            guard state.worths[version.id] != nil else { return }
            state.worths[version.id]?.recordHolder(client)
            state.chains.changeIfPresent(version.chainKey.hashValue) {
                $0.ledger.recordCost(sentBytes, of: client, at: now)
            }
        }
    }

    // MARK: Pages

    /// Records that a client received a page; returns the chains that such clients fetch next.
    ///
    /// Those that have been judged to pay come first; see `LearnedPages.chains`.
    func chains(after page: LearnedPages.Key, client: UInt128?, now: Int) -> [ChainKey] {
        state.withLock { state in
            // Held only while the pages change, so that nothing is copied.
            let chains = state.chains
            let isProven = { (chain: ChainKey) in chains[chain]?.ledger.isProven == true }
            if let client { state.pages.recordView(of: page, by: client, now: now, isProven: isProven) }
            return state.pages.chains(of: page, isProven: isProven)
        }
    }

    func knowledge(of chain: ChainKey) -> ChainRecord {
        state.withLock { $0.chains[chain] ?? ChainRecord() }
    }

    /// Returns the version that a page announces for a chain, or nil if that is of no use.
    ///
    /// A dictionary that responses carry themselves is better if it lives longer than the announced one. Learned
    /// announcements must also pay.
    func announced(
        _ chain: ChainKey, variant: String, isLearned: Bool, index: DictionaryIndex.Reader, lifeSeconds: Int,
        now: Int
    ) -> Version? {
        let isOfUse = state.withLock { state in
            // After a restart nothing is known of a chain, but its name is still valid.
            guard let record = state.chains[chain] else { return !isLearned }
            return record.keptSeconds < lifeSeconds && (!isLearned || record.ledger.mayAnnounce(at: now))
        }
        guard isOfUse else { return nil }
        return named(chain, variant: variant, index: index, lifeSeconds: lifeSeconds, now: now)
    }

    // MARK: Names

    /// Returns the version that Links of this chain and variant name; nil if no body of it is proven to be public.
    func named(
        _ chain: ChainKey, variant: String, index: DictionaryIndex.Reader, lifeSeconds: Int, now: Int
    ) -> Version? {
        let current = index.named(chain: chain, variant: variant, now: now)
        if let current, goesOnNaming(current, lifeSeconds: lifeSeconds, now: now) { return current }
        guard let fresh = proven(chain, variant: variant, named: current, index),
            name(fresh, replacing: current, lifeSeconds: lifeSeconds, now: now)
        else { return current }
        return fresh
    }

    /// Keeps the version that Links name, if it still has a whole life before it; returns false otherwise.
    private func goesOnNaming(_ current: Version, lifeSeconds: Int, now: Int) -> Bool {
        guard now < current.pinnedUntil - life(of: current, atMost: lifeSeconds) else { return false }
        state.withLock { $0.watch(current, lifeSeconds: lifeSeconds, now: now) }
        store.demand.touch(current, now: now)
        return true
    }

    // MARK: Built dictionaries

    /// Returns the version of a built dictionary in the chain of a host, and admits that of the operator where it is missing;
    /// nil if none is learned yet, or the store has no place for it.
    func version(
        of built: BuiltDictionary, in chain: ChainKey, _ policy: AdmissionPolicy,
        index: DictionaryIndex.Reader, now: Int
    ) -> Version? {
        guard let body = built.body else { return index.learned(of: chain) }
        return index.version(chain: chain, digest: body.digest)
            ?? version(with: body, as: VersionKey(builtOf: chain), policy, now: now)
    }

    /// Returns the version of a built dictionary with this body, and admits it where it is missing; nil if the store has no
    /// place for it, or a purge that came after `begunAt` (microseconds since 1970) includes it.
    func version(
        with body: Body, as key: VersionKey, _ policy: AdmissionPolicy, begunAt: Int64? = nil, now: Int
    ) -> Version? {
        let authority = key.chainKey.authority
        guard hasPlaceForBuilt(of: authority) else { return nil }
        state.withLock { _ = $0.builtFor.insert(authority) }
        let candidate = VersionCandidate(
            body, key: key, policy: policy, contentType: BuiltDictionary.contentType)
        return try? store.admission.admit(candidate, begunAt: begunAt, isOffered: false, now: now)
    }

    func hasPlaceForBuilt(of authority: String) -> Bool {
        state.withLock { $0.builtFor.count < Self.builtForMax || $0.builtFor.contains(authority) }
    }

    /// Returns the version of a built dictionary that Links name from now on.
    ///
    /// The operator vouches for it, so that it needs no proof. The version that was named before keeps its time.
    func named(_ version: Version, index: DictionaryIndex.Reader, lifeSeconds: Int, now: Int) -> Version? {
        let current = index.named(chain: version.chainKey, variant: version.variant, now: now)
        if let current, current.id == version.id, goesOnNaming(current, lifeSeconds: lifeSeconds, now: now) {
            return current
        }
        return name(version, replacing: current, lifeSeconds: lifeSeconds, now: now) ? version : nil
    }

    /// Records a first response of a route with a built dictionary, which went out over a version of it or without.
    func recordFirst(
        of chain: ChainKey, over version: Version?, bodyBytes: Int, sentBytes: Int, client: UInt128
    ) {
        state.withLock { state in
            state.chains.changeBuilt(chain, openedBy: client) { record in
                if let version {
                    record.savings.recordOver(version.id, body: bodyBytes, sent: sentBytes, client: client)
                } else {
                    record.savings.recordPlain(body: bodyBytes, sent: sentBytes, client: client)
                }
            }
        }
    }

    /// Has a built dictionary compared with what it saves now, since no better one can be made.
    func acceptFall(of version: Version) {
        state.withLock {
            $0.chains.changeIfPresent(version.chainKey.hashValue) { $0.savings.acceptFall() }
        }
    }

    /// Returns the life that responses advertise for a named version.
    func life(of version: Version, atMost lifeSeconds: Int) -> Int {
        min(state.withLock { $0.worths[version.id]?.lifeSeconds } ?? lifeSeconds, lifeSeconds)
    }

    /// Returns the newest proven version; the named one was proven before.
    private func proven(
        _ chain: ChainKey, variant: String, named: Version?, _ index: DictionaryIndex.Reader
    ) -> Version? {
        // Include the last proven version, however many other versions a client causes.
        let last = state.withLock { $0.chains[chain]?.proven }
        let lastProven = last.flatMap {
            $0.variant == variant ? index.version(chain: chain, digest: $0.body) : nil
        }
        let candidates =
            index.recent(of: chain).filter { $0.variant == variant }
            + [lastProven, named].compactMap { $0 }.filter { $0.variant == variant }
        return state.withLock { state in
            candidates.first {
                $0.id == named?.id
                    || state.proof.isProven(PublicProof.Key($0.digest, chain: chain, variant: variant))
            }
        }
    }

    /// Names a version for twice its advertised life, so that the last client can use it to the end.
    private func name(_ version: Version, replacing former: Version?, lifeSeconds: Int, now: Int) -> Bool {
        let formerWorth = former.flatMap { former in state.withLock { $0.worths[former.id] } }
        let worth = NamedWorth(namedAt: now, lifeSeconds: lifeSeconds, replacing: formerWorth)
        guard
            store.demand.nameInLinks(version, replacing: former, until: now + 2 * worth.lifeSeconds, now: now)
        else { return false }
        state.withLock { state in
            if state.worths.count >= Self.watchedMax { state.worths.removeAll() }
            state.worths[version.id] = worth
        }
        return true
    }

    // MARK: The worth of a name

    /// Measures the worth of a chain's name with its current body in the background, if due.
    func consider(_ sighting: Sighting, index: DictionaryIndex.Reader, lifeSeconds: Int, now: Int) {
        let (chain, variant, body) = (sighting.chain, sighting.variant, sighting.body)
        guard let named = index.named(chain: chain, variant: variant, now: now), named.digest != body.digest,
            watch(named, body, lifeSeconds: lifeSeconds, now: now),
            let current = index.newest(VersionKey(chain: chain, url: sighting.url, variant: variant)),
            current.digest == body.digest,
            let former = index.recent(of: chain).first(where: {
                $0.variant == variant && $0.digest != body.digest && $0.id != named.id
            }), let fresh = store.hotBody(of: former)
        else { return }
        state.withLock { $0.worths[named.id]?.begin(with: body.digest, at: now) }
        let measure: @Sendable (Body?) -> Void = { [self] dictionary in
            guard let dictionary else { return }
            _ = worker.submit { [self] in
                guard let sample = Self.sample(body, named: dictionary, fresh: fresh) else { return }
                record(sample, of: body, named, lifeSeconds: lifeSeconds, now: now)
            }
        }
        if let dictionary = store.hotBody(of: named) { return measure(dictionary) }
        store.load(named, completion: measure)
    }

    /// Watches a name; returns true if a measurement with the body is due.
    private func watch(_ named: Version, _ body: Body, lifeSeconds: Int, now: Int) -> Bool {
        state.withLock { state in
            state.watch(named, lifeSeconds: lifeSeconds, now: now)
            return state.worths[named.id]?.isDue(with: body.digest, at: now, terms) ?? false
        }
    }

    /// Uses the same library with both dictionaries and without, so that only the dictionary differs.
    private static func sample(_ body: Body, named: Body, fresh: Body) -> NamedWorth.Sample? {
        let dictionaryBytes = max(named.count, fresh.count)
        let fits = DictionaryFit.dczIsPossible(dictionaryBytes: dictionaryBytes, bodyBytes: body.count)
        let codings: (delta: ContentCoding, plain: ContentCoding) = fits ? (.dcz, .zstd) : (.dcb, .br)
        let bytes = body.bytes
        func delta(over dictionary: Body) -> Int? {
            let options = EncoderOptions(dictionary: .reference(dictionary))
            return (try? Codec.encode(bytes.span, codings.delta, options: options))?.count
        }
        guard let overNamed = delta(over: named), let overFresh = delta(over: fresh),
            let plain = try? Codec.encode(bytes.span, codings.plain)
        else { return nil }
        return .init(named: overNamed, fresh: overFresh, plain: plain.count)
    }

    private func record(
        _ sample: NamedWorth.Sample, of body: Body, _ named: Version, lifeSeconds: Int, now: Int
    ) {
        let isOver = state.withLock {
            $0.worths[named.id]?.record(sample, of: body.count, at: now, terms) ?? false
        }
        guard isOver,
            let fresh = proven(named.chainKey, variant: named.variant, named: named, store.reader()),
            fresh.id != named.id
        else { return }
        _ = name(fresh, replacing: named, lifeSeconds: lifeSeconds, now: now)
    }
}

extension VersionKey {
    /// The key of the operator's dictionaries of a built chain.
    ///
    /// Its URL is the pattern: no request for a resource has that in this chain.
    init(builtOf chain: ChainKey) { self.init(chain: chain, url: chain.match, variant: "") }
}
