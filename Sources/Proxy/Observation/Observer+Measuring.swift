internal import Dictionaries
internal import Primitives
internal import Storage

// MARK: - An identified response is measured

extension Observer {
    /// Decides what a live route would have sent to this client, makes the delta if there is time, and counts it.
    func finish(_ response: Identified, _ visit: ObservedClients.Visit, _ dictionary: Body?) {
        let seen = response.seen
        var held: ObservedClients.Held?
        if case .holding(let found) = visit { held = found }
        if let held { store.demand.advertised(held.version, now: seen.seconds) }
        let decision = decide(response, held, dictionary)
        var delta: CodingJob.Result?
        if decision.coding.usesDictionary, let held, let dictionary {
            delta = code(response, over: dictionary, held.version, decision.coding)
            if let delta, delta.obstacle == nil || delta.obstacle == .notShorter {
                held.version.recordDelta(bytes: delta.coded?.count ?? response.body.count)
            }
        }
        let obstacle = seen.asked.entitlement.obstacleToOffer(of: response.facts)
        compare(response)
        var offered: Storage.Version?
        if obstacle == nil { offered = offer(response, held, delta) }
        keep(offered, response)
        record(response, visit, decision, delta, obstacle, offered)
    }

    private func decide(
        _ response: Identified, _ held: ObservedClients.Held?, _ dictionary: Body?
    ) -> Decision {
        var lookUp = DictionaryLookUp.noneOffered
        if held != nil {
            lookUp = dictionary.map { .found(prefersDcb: DictionaryFit.prefersDcb(dictionary: $0)) } ?? .cold
        }
        return Negotiation.decide(
            request: response.seen.asked.entitlement.facts, response: response.facts,
            route: response.seen.route.policy,
            dictionary: lookUp, serverPreference: response.seen.asked.compression.preference)
    }

    // MARK: Deltas

    /// Makes the delta that the client would get; nil for lack of time.
    private func code(
        _ response: Identified, over dictionary: Body, _ version: Storage.Version, _ coding: ContentCoding
    ) -> CodingJob.Result? {
        guard hasPlenty() else { return nil }
        let seen = response.seen
        var job = CodingJob(
            bytes: response.body.bytes, newest: nil, needsDigest: true, coding: coding,
            dictionary: dictionary, scope: version.chainKey.deltaScope(store.keys), route: seen.route,
            levels: seen.asked.compression.levels, resources: self.coding)
        job.identity = .known(response.body, isNewest: response.isNewest)
        guard let result = job.codedHere() else { return nil }
        if let key = result.key, let address = seen.asked.address {
            self.coding.noteAsker(
                address, of: key, bodyBytes: response.body.count, at: seen.target,
                over: (version, dictionary), in: store, on: seen.route
            ) { bytes, work in
                self.timed { self.coding.memory.lend(bytes, to: work) } != nil
            }
        }
        return result
    }

    /// Returns the size in the best coding without a dictionary that the client accepts.
    private func plainBytes(_ response: Identified) -> Int? {
        let (body, asked) = (response.body, response.seen.asked)
        let key = PlainKey(body: body.digest, codings: asked.plainCodings)
        if let known = plainSizes.withLock({ $0.value(key) }) { return known }
        let best = asked.compression.levels.leastBytes(of: body.bytes, in: asked.plainCodings, coding.memory)
        guard let best else { return nil }
        plainSizes.withLock { $0.set(best, for: key) }
        return best
    }

    /// Measures a few deltas that show what `covers` the route should have: over the version before, and over the body of
    /// another URL.
    private func compare(_ response: Identified) {
        let seen = response.seen
        guard seen.target.audience != .personal, !response.isNewest, hasPlenty() else { return }
        let url = seen.urlNumber
        let tally = routes.withLock { $0.tallies[seen.resource] } ?? ObservedTally()
        func measure(
            _ path: WritableKeyPath<SavingsReport.Observed, DeltaSizes>, over version: Storage.Version?
        ) {
            guard tally.totals[keyPath: path].count < ObservedTally.samplesMax, let version,
                let sizes = sizes(response, over: version)
            else { return }
            routes.withLock {
                $0.change(seen.resource, isMeasured: true) {
                    $0.totals[keyPath: path].add(deltaBytes: sizes.delta, plainBytes: sizes.plain)
                }
            }
        }
        measure(\.own, over: response.former)
        measure(\.across, over: tally.last.flatMap { $0.url == url ? nil : $0.version })
    }

    private func sizes(_ response: Identified, over version: Storage.Version) -> (delta: Int, plain: Int)? {
        guard let dictionary = store.hotBody(of: version), dictionary.digest != response.body.digest,
            let plain = plainBytes(response)
        else { return nil }
        let outcome = coding.deltas.makeOnce(
            response.body.bytes, over: dictionary, .dcz, in: version.chainKey.deltaScope(store.keys))
        return switch outcome {
        case .coded(let bytes): (bytes.count, plain)
        case .notShorter: (response.body.count, plain)
        case .failed: nil
        }
    }

    // MARK: Offers

    /// Makes the body a version if a live route would; returns the version that the client would be offered.
    private func offer(
        _ response: Identified, _ held: ObservedClients.Held?, _ delta: CodingJob.Result?
    ) -> Storage.Version? {
        let seen = response.seen
        var encounter = Encounter(digest: response.body.digest, key: response.key)
        (encounter.etag, encounter.isNewest) = (response.entityTag, response.isNewest)
        (encounter.held, encounter.lifeSeconds) = (held?.version, seen.renewalSeconds)
        encounter.deltaBytes =
            delta.map { $0.coded?.count ?? response.body.count } ?? held?.version.lastDeltaBytes
        switch encounter.outcome(in: store.reader(), now: seen.seconds) {
        case .newest(let version), .elsewhere(let version):
            store.demand.offered(version, over: held?.version, now: seen.seconds)
            return version
        case .nothing: return nil
        case .admission:
            return try? store.admission.admit(
                VersionCandidate(
                    response.body, key: response.key,
                    policy: seen.route.admission(to: response.key.chainKey, from: seen.asked.address),
                    etag: response.entityTag, contentType: response.facts.contentType),
                over: held?.version, now: seen.seconds)
        }
    }

    /// Records what the client holds from now on.
    private func keep(_ offered: Storage.Version?, _ response: Identified) {
        let seen = response.seen
        guard let key = seen.clientKey else { return }
        clients.withLock { clients in
            guard let offered else { return clients.keepNothing(.nothing, for: key) }
            guard seen.lifeSeconds > 0 else { return clients.keepNothing(.unkept, for: key) }
            let held = ObservedClients.Held(
                version: offered, digest: response.body.digest, expiry: seen.expiry, number: response.number,
                url: seen.urlNumber)
            clients.keep(held, for: key)
        }
    }

    // MARK: Totals

    private func record(
        _ response: Identified, _ visit: ObservedClients.Visit, _ decision: Decision,
        _ delta: CodingJob.Result?, _ obstacle: Reason?, _ offered: Storage.Version?
    ) {
        let seen = response.seen
        // A delta that is no shorter is not sent.
        let wouldBeDelta = decision.coding.usesDictionary && delta?.obstacle == nil
        let plainBytes = delta?.coded == nil ? nil : self.plainBytes(response)
        routes.withLock { routes in
            routes.change(seen.resource, isMeasured: true) { tally in
                tally.add(url: seen.asked.url)
                if seen.target.audience != .personal, let offered { tally.last = (seen.urlNumber, offered) }
                tally.totals.responses += 1
                tally.totals.bodyBytes += response.body.count
                tally.totals.fields = seen.fields
                tally.totals.note(lifeSeconds: seen.lifeSeconds)
                tally.totals.countBody(number: response.number, isNew: response.isNew)
                let request = seen.asked.entitlement.facts
                if request.hasAuthorization || request.hasCookie { tally.totals.credentials += 1 }
                if let reason = obstacle { tally.totals.obstacles[reason.text, default: 0] += 1 }
                if let unkept = seen.unkept { tally.totals.unkept[unkept.rawValue, default: 0] += 1 }
                switch visit {
                case .first: tally.totals.firsts += seen.asked.client == nil ? 0 : 1
                case .again(let lack):
                    tally.totals.returns += 1
                    tally.totals.lacks[lack.rawValue, default: 0] += 1
                case .holding(let held):
                    tally.totals.returns += 1
                    if wouldBeDelta {
                        tally.totals.deltas += 1
                        tally.totals.deltasOfAll += seen.asked.weight
                    }
                    if let coded = delta?.coded, let plainBytes {
                        let isSameURL = held.url == seen.urlNumber
                        tally.totals.add(
                            deltaBytes: coded.count, plainBytes: plainBytes,
                            versionsBack: isSameURL ? max(0, response.number - held.number) : 1)
                    }
                }
            }
        }
    }
}
