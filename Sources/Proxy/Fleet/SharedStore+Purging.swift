internal import Dispatch
internal import HTTP
internal import Primitives
internal import Redis
internal import Storage

extension SharedStore {
    /// The difference between the clocks of two nodes that does no harm: versions that came so long after an order may go
    /// with it.
    private static let skewMicroseconds: Int64 = 1_000_000
    private static let purgeMilliseconds = 100
    private static let deletionsMax = 500
    /// The batches of deletions that wait; what is beyond expires in the shared store.
    private static let deletionBatchesMax = 20
    private static let replySeconds = 5
    /// The least age of an order that it says, in milliseconds: a younger one is as good as new.
    private static let ageMin: Int64 = 1_000

    /// Removes from the shared store what this node has removed, and has all other nodes remove the same.
    ///
    /// Returns false if the shared store did not confirm it in time. Blocks: never call it on an event loop.
    func tellAndWait(_ order: PurgeOrder, removed: [Storage.Version]) -> Bool {
        let isTold = AwaitedValue<Bool>()
        tell(order, removed: removed, onEnd: isTold.give)
        return isTold.take(until: .now() + .seconds(Self.replySeconds)) ?? false
    }

    /// The same without a wait; `onEnd` may be called at once.
    ///
    /// An order that the shared store does not confirm is given again until it does, and so are the deletions, apart from it:
    /// with them it could be too large for the gate for ever.
    func tell(
        _ order: PurgeOrder, removed: [Storage.Version],
        onEnd: @escaping @Sendable (_ isConfirmed: Bool) -> Void = { _ in }
    ) {
        let purge = Purge(
            order, rankMax: SystemClock.unixMicroseconds + Self.skewMicroseconds,
            routes: currentRoutes.withLock { $0 })
        purges.withLock { $0.former.add(purge) }
        let now = SystemClock.monotonicNanoseconds / 1_000_000
        let orders = order.parts.map { SharedOrder(order: $0, givenAt: now) }
        delete(takeKeys([purge], removed: removed))
        send(orders.map(entry)) { [self, orders] isConfirmed in
            if !isConfirmed { notify(waitingOrders.withLock { $0.add(orders) }) }
            onEnd(isConfirmed)
        }
    }

    /// Gives the orders again that wait for it.
    func tellWaiting() {
        let deletions = waitingDeletions.withLock { exchange(&$0, with: []) }
        for keys in deletions { delete(batch: keys) }
        let orders = waitingOrders.withLock { $0.take() }
        guard !orders.isEmpty else { return }
        send(orders.map(entry)) { [self, orders] isConfirmed in
            notify(waitingOrders.withLock { $0.end(orders, isConfirmed: isConfirmed) })
            if isConfirmed { work.async { [self] in tellWaiting() } }
        }
    }

    /// Returns the command that tells the other nodes of an order, signed now.
    private func entry(_ order: SharedOrder) -> RedisCommand {
        let age = SystemClock.monotonicNanoseconds / 1_000_000 - order.givenAt
        let fields: [SignedEntry.Field] =
            [(PurgeOrder.entry, order.order.sharedBytes)]
            + (age >= Self.ageMin ? [PurgeOrder.field(ofAge: age)] : [])
            + [(SharedDemand.Entry.node, node)]
        let signed = commonKeys.map { SignedEntry.sign(fields, at: SystemClock.unixMilliseconds, $0) }
        return RedisCommand.append(to: Array(names.news.utf8), signed ?? fields, lengthMax: Self.newsMax)
    }

    private func notify(_ notices: [WaitingOrders.Notice]) {
        for notice in notices {
            switch notice {
            case .waits:
                tellOrders(
                    .warning(
                        """
                        store.shared: an order to forget, of a purge or a log-out, was not confirmed, so other nodes may keep \
                        what it names: it is given again until it is confirmed, as long as this node runs
                        """))
            case .overflows:
                tellOrders(
                    .warning(
                        """
                        store.shared: over \(WaitingOrders.countMax) orders to forget wait, so the oldest are dropped: once \
                        the shared store is back, purge what must be forgotten
                        """))
            case .isOver: tellOrders(.info("store.shared: the orders to forget that waited are confirmed"))
            }
        }
    }

    private func tellOrders(_ event: OperatorEvent) { report(.about("orders to forget", event)) }

    /// Returns the time of an order, in milliseconds since 1970; nil unless a node with the common key had just signed it.
    ///
    /// One that was given again says its age, so that it removes nothing that has come since it was given first.
    ///
    /// Without a key all are trusted. Otherwise whoever writes to the shared store could empty the stores of all nodes.
    func timeOfOrder(_ entry: RedisStreamEntry) -> Int64? {
        let appended = appended(entry)
        let age = PurgeOrder.age(of: entry.fields)
        guard let keys = commonKeys else { return max(0, appended.upperBound - age) }
        guard let time = SignedEntry.time(of: entry.fields, keys), time > 0 else { return nil }
        guard abs(appended.nearest(to: time) - time) <= Following.signedMilliseconds else {
            reportUntimely()
            return nil
        }
        // A node whose clock is ahead has admitted its versions by that clock.
        return max(0, max(time, min(appended.upperBound, time + Following.signedMilliseconds)) - age)
    }

    /// Returns the time in which an entry was appended, in milliseconds since 1970, and never one to come.
    ///
    /// Of entries that this node has read as they came, it knows that by its own clock, however late it heeds them. Only for those
    /// from before, it goes by the id: that is by the clock of the shared store, and whoever writes there can choose it.
    func appended(_ entry: RedisStreamEntry) -> ClosedRange<Int64> {
        let place = min(Int64(clamping: entry.id.milliseconds), SystemClock.unixMilliseconds)
        return entry.appended ?? place...place
    }

    /// Warns once of an order that is not heeded for its time.
    private func reportUntimely() {
        guard following.withLock({ $0.noteUntimely() }) else { return }
        report(
            .warning(
                """
                store.shared: another node's order to forget was not heeded, as its time is over 60 s from that at which \
                it came: keep the clocks of all nodes and of Redis within a few seconds (NTP); if they are right, somebody \
                has appended an old order again
                """))
    }

    /// Carries an order of a node out that was given at this time, in milliseconds since 1970.
    ///
    /// It does so on a queue of its own, since it waits for the disk.
    ///
    /// One that is read again is not carried out again.
    ///
    /// - Parameter isFormer: True for one from before the start of this node.
    func heedPurge(_ value: [UInt8], at time: Int64, isFormer: Bool) {
        guard let order = PurgeOrder(sharedBytes: value) else { return }
        let purge = Purge(
            order, rankMax: time * 1000 + Self.skewMicroseconds, isFormer: isFormer,
            routes: currentRoutes.withLock { $0 })
        let isFirst = purges.withLock { purges in
            guard !purges.former.covers(purge) else { return false }
            purges.former.add(purge)
            defer { purges.waiting.add(purge) }
            return purges.waiting.isEmpty
        }
        guard isFirst else { return }
        purging.asyncAfter(deadline: .now() + .milliseconds(Self.purgeMilliseconds)) { [weak self] in
            guard let self else { return }
            let due = purges.withLock { $0.waiting.takeAll() }
            delete(takeKeys(due, removed: store.upkeep.purge(due).versions))
        }
    }

    func isPurged(_ record: SharedRecord) -> Bool {
        isPurged(record.chain, url: record.url, rank: record.rank)
    }

    /// Returns true if a version may not come back, since an order that came after it includes it.
    func isPurged(_ chain: ChainKey, url: String?, rank: Int64) -> Bool {
        purges.withLock { $0.former }.forbid(chain, url: url, rank: rank)
    }

    /// Forgets versions, and returns their keys: those that this node has removed, and all others that it knows of.
    private func takeKeys(_ due: [Purge], removed: [Storage.Version]) -> [[UInt8]] {
        let own = removed.compactMap { version in
            version.sharedName(commonKeys).map { (name: $0, bytes: version.bytes) }
        }
        let now = SystemClock.unixMicroseconds
        let ownNames = Set(own.map(\.name))
        let known = state.withLock { $0.index }.allNews.filter { news in
            guard let chain = news.chain, !ownNames.contains(news.name) else { return false }
            return due.contains { $0.includes(chain, url: nil, rank: min(news.rank, now)) }
        }
        let all = own + known.map { (name: $0.name, bytes: $0.bytes) }
        state.withLock { state in
            for one in all { state.index.remove(one.name) }
        }
        return all.flatMap { names.keys(of: $0.name, bodyBytes: $0.bytes) }.map { Array($0.utf8) }
    }

    /// Removes keys from the shared store, now or as soon as it can be reached.
    func delete(_ keys: [[UInt8]]) {
        for batch in keys.pieces(of: Self.deletionsMax) { delete(batch: Array(batch)) }
    }

    private func delete(batch keys: [[UInt8]]) {
        send([.delete(keys)]) { [weak self] isDone in
            guard !isDone else { return }
            self?.waitingDeletions.withLock { if $0.count < Self.deletionBatchesMax { $0.append(keys) } }
        }
    }
}

extension PurgeOrder {
    /// The order in parts that have few enough users for an entry each.
    fileprivate var parts: [PurgeOrder] {
        guard let owners, owners.count > Self.ownersMax else { return [self] }
        return Array(owners).pieces(of: Self.ownersMax).map { some in
            var part = self
            part.owners = Set(some)
            return part
        }
    }
}

extension ClosedRange<Int64> {
    func nearest(to value: Int64) -> Int64 { Swift.min(Swift.max(value, lowerBound), upperBound) }
}
