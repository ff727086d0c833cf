internal import Dictionaries
internal import Dispatch
internal import Primitives
internal import Redis
internal import Storage

/// The versions of this node that wait to be written to the shared store, within a bound; a pure value.
struct Publications: Sendable {
    private var waiting: [SharableVersion] = []
    private(set) var bytes = 0
    /// True while a write is scheduled or under way.
    private(set) var isScheduled = false
    /// The versions that were given up: others took their room, or they could not be written.
    private(set) var dropped = 0
    /// The number of versions in the next batch: fewer after one that failed, perhaps because it was too large or too slow.
    private var batchCount = batchMax
    /// The version that has failed alone.
    private var failed: Digest?

    /// The versions in probation that are written per second, so that a crawler does not fill the shared store.
    private var probation = TokenBucket()

    private static let probationRate = TokenBucket.Shape(perSecond: 50)
    /// The bound on the bodies that wait.
    private let bytesMax: Int
    private static let countMax = 4096
    private static let batchBytes = 4 << 20
    private static let batchMax = 64

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// The bodies of a batch, of which the client takes more at a time than wait here.
    private var batchBytes: Int { min(Self.batchBytes, bytesMax / 2) }

    /// The bytes of bodies that may be added without the loss of any.
    var room: Int { bytesMax - bytes }

    /// Adds versions, and returns true if the caller must schedule a write; the oldest go if there are too many.
    mutating func add(_ versions: [SharableVersion], now: Int64) -> Bool {
        for version in versions where version.body.count <= SharedRecord.bodyBytesMax {
            guard !version.isInProbation || probation.take(at: Self.probationRate, now: now) == nil else {
                continue
            }
            waiting.append(version)
            bytes += version.body.count
        }
        dropSurplus()
        guard !isScheduled, !waiting.isEmpty else { return false }
        isScheduled = true
        return true
    }

    private mutating func dropSurplus() {
        var surplus = 0
        while surplus < waiting.count, bytes > bytesMax || waiting.count - surplus > Self.countMax {
            bytes -= waiting[surplus].body.count
            surplus += 1
        }
        waiting.removeFirst(surplus)
        dropped += surplus
    }

    mutating func noteSuccess() {
        batchCount = min(2 * batchCount, Self.batchMax)
        failed = nil
    }

    /// Puts versions back that could not be written, before all that came later; gives up one that fails alone twice.
    mutating func putBack(_ versions: [SharableVersion]) {
        let alone = versions.count == 1 ? versions.first?.body.digest : nil
        guard alone == nil || alone != failed else {
            failed = nil
            dropped += 1
            return
        }
        failed = alone
        batchCount = max(versions.count / 2, 1)
        waiting.insert(contentsOf: versions, at: 0)
        bytes += versions.reduce(0) { $0 + $1.body.count }
        dropSurplus()
    }

    mutating func take() -> [SharableVersion] {
        var (count, size) = (0, 0)
        while count < min(waiting.count, batchCount), count == 0 || size < batchBytes {
            size += waiting[count].body.count
            count += 1
        }
        let taken = Array(waiting.prefix(count))
        waiting.removeFirst(count)
        bytes -= size
        return taken
    }

    /// Ends a write; returns true if the caller must schedule the next one.
    mutating func end() -> Bool {
        isScheduled = !waiting.isEmpty
        return isScheduled
    }
}

// MARK: - Versions of this node

extension SharedStore {
    /// The number of announcements that a stream keeps, about.
    static let newsMax = 100_000
    /// The longest pause before a version is written, so that another node that has it too may be first.
    private static let pauseMilliseconds = 20
    /// The pause after a write that has failed.
    private static let retryMilliseconds = 1000

    /// Has versions written to the shared store, unless another node has done so.
    func publish(_ versions: [SharableVersion]) {
        let some = versions.filter { $0.chainKey.scope == .public || commonKeys != nil }
        guard !some.isEmpty else { return }
        // The bodies wait nowhere else than among the publications, which are bounded.
        let named = some.compactMap { one in one.name(commonKeys).map { (name: $0, version: one.version) } }
        work.async { [self] in
            for one in named { takeHolders(of: one.version, as: one.name) }
        }
        let now = SystemClock.monotonicNanoseconds
        guard publications.withLock({ $0.add(some, now: now) }) else { return }
        schedulePublication(afterMilliseconds: .random(in: 0...Self.pauseMilliseconds))
    }

    private func schedulePublication(afterMilliseconds milliseconds: Int) {
        work.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [weak self] in self?.writeNext() }
    }

    /// A version on its way to the shared store.
    private struct Writing: Sendable {
        var version: SharableVersion
        let name: SharedName
        let news: SharedNews
        let keys: [String]
        let commands: [RedisCommand]
    }

    private func writeNext() {
        // The connection may be back soon, without an interruption of what is followed.
        guard client.isBackgroundAvailable else {
            return endPublication(pauseMilliseconds: Self.retryMilliseconds)
        }
        let batch = publications.withLock { $0.take() }
        let writings = batch.compactMap(writing)
        guard !writings.isEmpty else { return endPublication() }
        do throws(RedisFailure) {
            try client.send(writings.flatMap(\.commands), .background) { [self] result in
                work.async { [self] in written(writings, result) }
            }
        } catch {
            repeatLater(writings)
        }
    }

    /// Has versions written, or announced, once more; what is there already stays as it is.
    private func repeatLater(_ writings: [Writing]) {
        publications.withLock { $0.putBack(writings.map(\.version)) }
        endPublication(pauseMilliseconds: Self.retryMilliseconds)
    }

    /// Returns the commands for a version; nil if another node has written it, or if it cannot be shared.
    private func writing(_ version: SharableVersion) -> Writing? {
        guard let name = version.name(commonKeys), let key = names.key(of: name) else { return nil }
        let record = version.record
        guard !isPurged(record) else { return nil }
        guard !state.withLock({ $0.index.contains(name) }) else {
            counters.withLock { counters in
                if version.isWritten { counters.published += 1 } else { counters.alreadyThere += 1 }
            }
            return nil
        }
        var news = SharedNews(of: record, named: name)
        news.isInProbation = version.isInProbation
        guard news.fits, let values = record.values(named: name, keys: commonKeys) else { return nil }
        let life = news.isInProbation ? Self.probationSeconds : Self.lifeSeconds
        let keys = [key] + names.partKeys(of: key, parts: values.count)
        // The first value goes last, so that it never promises parts that are not there yet.
        let commands = zip(keys, values).reversed().map { key, value in
            RedisCommand.setIfAbsent(Array(key.utf8), to: value, seconds: life)
        }
        return Writing(version: version, name: name, news: news, keys: keys, commands: commands)
    }

    /// Notes where a version is, and gives it the holders that other nodes have told of.
    private func takeHolders(of version: Storage.Version, as name: SharedName) {
        note(version, as: name)
        guard let told = state.withLock({ $0.index.takeHolders(of: name) }) else { return }
        store.sharing.add(told, to: version)
    }

    /// Notes where a sealed version is.
    func note(_ version: Storage.Version, as name: SharedName) {
        guard name.isSealed else { return }
        state.withLock { $0.sealedRows.set(version.id, for: name) }
    }

    /// Announces the versions that the shared store has taken.
    private func written(_ writings: [Writing], _ result: Result<[RESPValue], RedisFailure>) {
        guard case .success(let replies) = result else { return repeatLater(writings) }
        var noted = writings
        var (place, taken, short, purged) = (0, [SharedNews](), [String](), [String]())
        var counts = (written: 0, known: 0, failed: 0)
        for (index, writing) in writings.enumerated() {
            let own = replies[place..<min(place + writing.commands.count, replies.count)]
            place += writing.commands.count
            guard own.count == writing.commands.count, own.allSatisfy({ $0.isOK || $0 == .null }) else {
                counts.failed += 1
                continue
            }
            // An order that came meanwhile has removed its keys before they were written.
            guard !isPurged(writing.version.record) else {
                // Those that another node has written may be of a version that came after the order.
                if !own.contains(.null) { purged += writing.keys }
                continue
            }
            if own.last != .null { noted[index].version.isWritten = true }
            // Behind an announcement that failed, this node finds what it has written itself.
            if noted[index].version.isWritten { counts.written += 1 } else { counts.known += 1 }
            // The node that was first may have written it for a short time.
            if !writing.news.isInProbation, own.contains(.null) { short += writing.keys }
            // The node that was first may not have announced it.
            if !state.withLock({ $0.index.contains(writing.name) }) { taken.append(writing.news) }
        }
        delete(purged.map { Array($0.utf8) })
        lengthenLives(of: short)
        announce(taken) { [self, noted, counts] isAnnounced in
            // They count once, at the end.
            guard isAnnounced else { return repeatLater(noted) }
            counters.withLock { counters in
                counters.published += counts.written
                counters.alreadyThere += counts.known
                counters.publishFailures += counts.failed
            }
            publications.withLock { $0.noteSuccess() }
            endPublication()
        }
    }

    /// Has values live as long as those of versions in demand; returns false if nothing was sent.
    @discardableResult
    func lengthenLives(of keys: [String]) -> Bool {
        guard !keys.isEmpty else { return true }
        let commands = keys.map { RedisCommand.expire(Array($0.utf8), seconds: Self.lifeSeconds) }
        return (try? client.send(commands, .background) { _ in }) != nil
    }

    /// Announces versions to the other nodes, and calls `onEnd` once, with false if that has failed for now.
    func announce(_ news: [SharedNews], onEnd: @escaping @Sendable (Bool) -> Void = { _ in }) {
        var commands: [RedisCommand] = []
        var promises: [PromisedIDs.Promise] = []
        for isSealed in [false, true] {
            let some = news.filter { $0.name.isSealed == isSealed }
            guard !some.isEmpty, let stream = isSealed ? names.sealedNews : names.news else { continue }
            commands += SharedNews.batches(some).map { batch in
                var fields = [(name: SharedNews.Entry.versions, value: batch)]
                if isSealed, let taken = takePromises() {
                    fields.append(taken.field)
                    promises += taken.promises
                }
                return .append(to: Array(stream.utf8), fields, lengthMax: Self.newsMax)
            }
        }
        guard !commands.isEmpty else { return onEnd(true) }
        send(commands) { [weak self, work, promises] isSent in
            if !isSent { self?.promised(promises) }
            work.async { onEnd(isSent) }
        }
    }

    /// Sends commands, and calls `onEnd` once, with false unless the shared store has done all of them.
    func send(_ commands: [RedisCommand], onEnd: @escaping @Sendable (_ isDone: Bool) -> Void) {
        do throws(RedisFailure) {
            try client.send(commands, .background) { result in
                onEnd((try? result.get())?.allSatisfy { $0.error == nil } == true)
            }
        } catch {
            onEnd(false)
        }
    }

    private func endPublication(pauseMilliseconds: Int = 1) {
        guard publications.withLock({ $0.end() }) else { return }
        schedulePublication(afterMilliseconds: pauseMilliseconds)
    }
}
