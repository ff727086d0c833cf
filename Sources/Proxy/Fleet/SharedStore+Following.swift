internal import Dictionaries
internal import Dispatch
internal import Primitives
internal import Redis
internal import Storage

// MARK: - What other nodes announce

extension SharedStore {
    static let newsPlace = 0
    static let demandPlace = 1
    /// The number of entries about holders that the stream keeps, about.
    private static let demandMax = 250
    private static let tickSeconds = 10.0
    /// The number of versions whose holders one entry tells of.
    private static let demandBatch = 1000
    /// The number of entries at a time: as many as tell of all changes that a store notes.
    private static let demandBatches = 20
    /// The number of versions that are written again after the shared store has lost everything.
    private static let repeatedMax = 10_000
    private static let repeatedBatch = 50

    /// Begins to follow the other nodes and to share versions; after the start of the client.
    func start() {
        store.sharing.share(
            with: StoreListener(
                admitted: { [weak self] version, candidate in
                    guard let self else { return }
                    publish([SharableVersion(version, candidate, store.keys)])
                },
                established: { [weak self] chain in
                    guard let self else { return }
                    reading.async { [weak self] in self?.publish(established: chain) }
                },
                promised: { [weak self] promise in self?.promised(CollectionOfOne(promise)) }))
        if commonKeys == nil, store.keys != nil {
            report(
                .info(
                    """
                    store.shared: private and personal dictionaries, and those that need an id, stay on this node; to \
                    share them, give all nodes the same store.key_file
                    """))
        }
        let streams = [names.news, names.demand] + (names.sealedNews.map { [$0] } ?? [])
        client.follow(streams.map { Array($0.utf8) }, on: work) { [weak self] event in self?.heed(event) }
        scheduleTick()
    }

    func heed(_ event: RedisStreamEvent) {
        switch event {
        case .entries(Self.demandPlace, let entries): heedDemand(entries)
        case .entries(let place, let entries):
            following.withLock { $0.noteNews(entries, of: place) }
            for entry in entries { heedNews(entry) }
        case .caughtUp:
            let hasGap = following.withLock { following in
                following.endFormerDemand()
                return following.endFormerNews(now: SystemClock.unixSeconds)
            }
            state.withLock { state in
                if hasGap { state.index.noteLoss() }
                state.hasCaughtUp = true
            }
            tellWaiting()
            repeatUnknown()
            append(demand: [])
        case .restarted(Self.demandPlace): following.withLock { $0.restartDemand() }
        case .restarted(let place): forgetNews(of: place)
        case .interrupted: state.withLock { $0.hasCaughtUp = false }
        case .resumed: break
        }
    }

    /// Forgets the announcements of one stream, which is read again from its beginning.
    private func forgetNews(of place: Int) {
        following.withLock { $0.restartNews(of: place) }
        // Taken out, since requests wait for the lock.
        var index = state.withLock { state in
            state.hasCaughtUp = false
            return exchange(&state.index, with: SharedIndex())
        }
        let isSealed = place != Self.newsPlace
        index.removeAll(isSealed: isSealed)
        state.withLock { [index] state in
            state.index = index
            if isSealed { state.promises = SharedPromises() }
        }
    }

    private func heedNews(_ entry: RedisStreamEntry) {
        let now = SystemClock.unixSeconds
        // An announcement is as old as its entry.
        let announcedAt = min(Int(clamping: entry.id.milliseconds / 1000), now)
        for (name, value) in entry.fields {
            if name == SharedNews.Entry.versions {
                for news in SharedNews.read(value) { heed(news, announcedAt: announcedAt, now: now) }
            } else if name == SharedNews.Entry.lost, announcedAt > now - 60 {
                for name in SharedNews.readNames(value) { heedLost(name) }
            } else if name == SharedNews.Entry.superseded {
                let isRecent = announcedAt > now - 60
                for name in SharedNews.readNames(value) { heedSuperseded(name, isRecent: isRecent) }
            } else if name == SharedNews.Entry.promises {
                state.withLock { state in
                    for promise in SharedNews.readPromises(value) { state.promises.insert(promise) }
                }
            } else if name == PurgeOrder.entry, !isOwn(entry), let time = timeOfOrder(entry) {
                heedPurge(value, at: time, isFormer: isFormer(entry))
            }
        }
    }

    /// True for an entry from before the start of this node.
    private func isFormer(_ entry: RedisStreamEntry) -> Bool {
        entry.id.milliseconds < UInt64(clamping: startedAt)
    }

    private func isOwn(_ entry: RedisStreamEntry) -> Bool {
        entry.fields.contains { $0.name == SharedDemand.Entry.node && $0.value == node }
    }

    private func heed(_ news: SharedNews, announcedAt: Int, now: Int) {
        if let chain = news.chain, isPurged(chain, url: nil, rank: news.rank) { return }
        let isNew = state.withLock { state in
            state.questions.recordAnnounced(news.name)
            return state.index.insert(news, now: announcedAt)
        }
        guard isNew, announcedAt > now - 10, let chain = news.chain,
            store.sharing.isInDemand(chain, since: now - 3600),
            following.withLock({ $0.noteNewest(news.name, of: chain, now: Self.nowMilliseconds) })
        else { return }
        // Within this time this node has mostly got the same body from its upstream.
        fetchNewest(of: chain, afterMilliseconds: .random(in: 300...1000))
    }

    private static var nowMilliseconds: Int64 { SystemClock.monotonicNanoseconds / 1_000_000 }

    private func fetchNewest(of chain: ChainKey, afterMilliseconds milliseconds: Int) {
        work.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [weak self] in
            self?.fetchNewest(of: chain)
        }
    }

    private func fetchNewest(of chain: ChainKey) {
        let turn = following.withLock { following in
            following.takeNewest(
                of: chain, isHere: { store.sharing.version($0, chain: chain) != nil },
                isUsed: { store.sharing.version($0, chain: chain)?.lastDeltaBytes != nil },
                bytes: { name in state.withLock { $0.index.news(of: name)?.bytes ?? 0 } },
                now: Self.nowMilliseconds)
        }
        switch turn {
        case .fetch(let name):
            guard let key = names.key(of: name), client.isAvailable else { return }
            get(name, key: key, .background)
        case .wait(let milliseconds): fetchNewest(of: chain, afterMilliseconds: Int(milliseconds))
        case .nothing: break
        }
    }

    /// Writes a version again that another node misses, if this node has it.
    private func heedLost(_ name: SharedName) {
        let version = version(name)
        _ = state.withLock { $0.index.remove(name) }
        guard let version else { return }
        let pause = DispatchTimeInterval.milliseconds(.random(in: 0...500))
        work.asyncAfter(deadline: .now() + pause) { [weak self] in self?.publish(stored: version) }
    }

    /// Writes the versions of a chain that has left its probation, or lengthens their lives.
    private func publish(established chain: ChainKey) {
        let versions = store.sharing.readSharable(of: chain)
        renew(versions.compactMap { $0.name(commonKeys) })
        publish(versions)
    }

    /// Forgets a version that another node has removed from the shared store, unless somebody holds it after all.
    ///
    /// After a former removal a later entry may have announced it again; if none has, `repeatUnknown` writes it.
    private func heedSuperseded(_ name: SharedName, isRecent: Bool) {
        if isRecent, let version = version(name), version.holders > 0 {
            heedLost(name)
        } else {
            _ = state.withLock { $0.index.remove(name) }
        }
    }

    /// Returns this node's version of a name.
    private func version(_ name: SharedName) -> Storage.Version? {
        guard name.isSealed else {
            return store.sharing.version(name, chain: state.withLock { $0.index.news(of: name)?.chain })
        }
        let row = state.withLock { $0.sealedRows.value(name) }
        return row.flatMap { store.sharing.version(row: $0) }.flatMap {
            $0.sharedName(commonKeys) == name ? $0 : nil
        }
    }

    private func publish(stored version: Storage.Version) {
        store.load(version) { [weak self] body in
            guard let self, let body else { return }
            reading.async { [self] in publish([store.sharing.readSharable(version, body)]) }
        }
    }

    /// Writes the held versions of this node that no announcement names: after a start, an outage or a loss.
    private func repeatUnknown() {
        let versions = store.sharing.versionsToShare(max: Self.repeatedMax)
        // Nodes that begin at different times see each other's announcements, and write less.
        let round = following.withLock { $0.beginRepetition() }
        repeatNext(versions[...], round: round, afterMilliseconds: .random(in: 0...2000))
    }

    private func repeatNext(
        _ versions: ArraySlice<Storage.Version>, round: Int, afterMilliseconds milliseconds: Int
    ) {
        work.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [weak self] in
            guard let self, following.withLock({ $0.repetition }) == round else { return }
            // The queue would drop what it cannot write.
            guard client.isAvailable, client.isBackgroundAvailable else {
                return repeatNext(versions, round: round, afterMilliseconds: 1000)
            }
            let left = repeatSome(of: versions)
            if !left.isEmpty { repeatNext(left, round: round, afterMilliseconds: 200) }
        }
    }

    /// Writes the first versions that no announcement names; returns the others.
    private func repeatSome(of versions: ArraySlice<Storage.Version>) -> ArraySlice<Storage.Version> {
        // Half of it, since bodies of the last call may still come from the disk.
        var room = publications.withLock { $0.room } / 2
        var (rest, count) = (versions, 0)
        while count < Self.repeatedBatch, room > 0, let version = rest.popFirst() {
            guard let name = version.sharedName(commonKeys) else { continue }
            note(version, as: name)
            if repeatPromises(of: version) { count += 1 }
            guard !state.withLock({ $0.index.contains(name) }) else { continue }
            count += 1
            room -= version.bytes
            publish(stored: version)
        }
        return rest
    }

    // MARK: Holders, and the nodes themselves

    private func heedDemand(_ entries: [RedisStreamEntry]) {
        for entry in following.withLock({ $0.takeNew(entries) }) {
            let sender = entry.fields.first { $0.name == SharedDemand.Entry.node }?.value ?? []
            guard !sender.starts(with: node) else { continue }
            heedNode(sender)
            guard isTrusted(entry, from: sender) else { continue }
            // The counts on disk have what was told before the start, at least by this node itself.
            let isFormer = isFormer(entry)
            for demand in entry.fields.flatMap(SharedDemand.read) {
                if let version = version(demand.name) {
                    if !isFormer { store.sharing.add(demand, to: version) }
                } else {
                    state.withLock { _ = $0.index.add(demand) }
                }
            }
        }
    }

    /// Returns true if a node with the common key has told an entry, for the first time; without a key all are trusted.
    private func isTrusted(_ entry: RedisStreamEntry, from sender: [UInt8]) -> Bool {
        guard let keys = commonKeys else { return true }
        guard let time = SignedEntry.time(of: entry.fields, keys) else { return false }
        let appendedAt = appended(entry).nearest(to: time)
        return following.withLock {
            $0.takeSigned(by: sender, at: time, appendedAt: appendedAt)
        }
    }

    /// Warns once if another node has another key.
    private func heedNode(_ sender: [UInt8]) {
        guard let tag = commonKeys?.sharedTag, sender.count > node.count else { return }
        guard !sender[node.count...].elementsEqual(tag.utf8), following.withLock({ $0.noteOtherKey() }) else {
            return
        }
        report(
            .warning(
                """
                store.shared: another node has another store.key_file, so private and personal dictionaries are not \
                shared with it: give all nodes the same file
                """))
    }

    private func scheduleTick() {
        let pause = Self.tickSeconds * .random(in: 0.9...1.1)
        work.asyncAfter(deadline: .now() + pause) { [weak self] in
            guard let self else { return }
            tick()
            scheduleTick()
        }
    }

    /// Tells the other nodes what has changed among the holders, and keeps what they hold in the shared store.
    func tick() {
        if client.isBackgroundAvailable { tellWaiting() }
        guard client.isAvailable, client.isBackgroundAvailable else { return }
        var demands: [SharedDemand] = []
        for _ in 0..<Self.demandBatches {
            let some = store.sharing.takeDemand(max: Self.demandBatch, keys: commonKeys)
            guard !some.isEmpty else { continue }
            append(demand: SharedDemand.fields(of: some)) { [weak self] in self?.giveBack(some) }
            // A chain in probation lives longer once it is established.
            renew(some.map(\.name).filter { version($0)?.isInProbation != true })
            demands += some
        }
        publishAgain(demands)
        // By a clock that nobody sets: one that was ahead would keep them for as long.
        removeSuperseded(demands, now: Int(SystemClock.monotonicNanoseconds / 1_000_000_000))
    }

    /// Keeps the changes that nobody was told of for the next time.
    private func giveBack(_ demands: [SharedDemand]) {
        work.async { [weak self] in
            guard let self else { return }
            for demand in demands {
                if let version = version(demand.name) { store.sharing.giveBack(demand, of: version) }
            }
        }
    }

    /// Writes the versions that have won holders and that no announcement names: they were superseded, and came back.
    private func publishAgain(_ demands: [SharedDemand]) {
        let unknown = state.withLock { state in
            demands.filter { $0.change > 0 && !state.index.contains($0.name) }
        }
        for demand in unknown.prefix(Self.repeatedBatch) {
            if let version = version(demand.name) { publish(stored: version) }
        }
    }

    /// Removes the versions from the shared store that no client of any node holds any more.
    func removeSuperseded(_ demands: [SharedDemand], now: Int) {
        let lost = demands.filter { $0.change < 0 && version($0.name)?.holders ?? 0 == 0 }.map(\.name)
        let due = superseded.withLock { superseded in
            for name in lost { superseded.note(name, now: now) }
            return superseded.takeDue(now: now, max: Self.demandBatch)
        }
        let gone = due.filter { name in
            version(name).map { $0.holders == 0 }
                ?? state.withLock { $0.index.holders(of: name) <= 0 }
        }
        let keys = gone.flatMap { name in
            let bytes = state.withLock { $0.index.news(of: name)?.bytes ?? 0 }
            return names.keys(of: name, bodyBytes: bytes)
        }
        guard !keys.isEmpty else { return }
        state.withLock { state in
            for name in gone { state.index.remove(name) }
        }
        try? client.send([.delete(keys.map { Array($0.utf8) })], .background) { [self] _ in
            for some in gone.pieces(of: SharedNews.namesMax) {
                announce(Array(some), as: SharedNews.Entry.superseded)
            }
        }
    }

    /// Appends an entry about holders; calls `onFailure` if it is surely not there.
    private func append(
        demand fields: [(name: [UInt8], value: [UInt8])], onFailure: @escaping @Sendable () -> Void = {}
    ) {
        let own = (name: SharedDemand.Entry.node, value: node + Array((commonKeys?.sharedTag ?? "").utf8))
        var all = [own] + fields
        if let keys = commonKeys {
            let time = following.withLock { $0.nextTime(now: SystemClock.unixMilliseconds) }
            all = SignedEntry.sign(all, at: time, keys)
        }
        let entry = RedisCommand.append(to: Array(names.demand.utf8), all, lengthMax: Self.demandMax)
        do throws(RedisFailure) {
            try client.send([entry], .background) { result in
                switch result {
                case .success(let replies): if replies.first?.error != nil { onFailure() }
                // It may be there: told again, it would count twice.
                case .failure(.timedOut), .failure(.lost): break
                case .failure(.unavailable), .failure(.busy): onFailure()
                }
            }
        } catch {
            onFailure()
        }
    }

    /// Renews the life of versions in demand, and their announcements, once half of it is over or if it is short.
    private func renew(_ wanted: [SharedName]) {
        let due = SystemClock.unixSeconds - Self.lifeSeconds / 2
        let old = state.withLock { $0.index.due(wanted, before: due) }
        guard !old.isEmpty else { return }
        let keys = old.flatMap { names.keys(of: $0.name, bodyBytes: $0.bytes) }
        // Nodes that hear of a renewal renew nothing for days. So they hear of it only if it has succeeded.
        guard lengthenLives(of: keys) else { return }
        for news in old where news.name.isSealed {
            if let version = version(news.name) { repeatPromises(of: version, all: true) }
        }
        announce(old)
    }
}
