internal import Dispatch
internal import HTTP
internal import Primitives
internal import Redis
internal import Storage

// MARK: - Bodies of other nodes

extension SharedStore {
    /// Asks the shared store for a version.
    ///
    /// - Parameter core: The loop of the request that waits for it.
    func get(_ name: SharedName, key: String, _ urgency: RedisUrgency, on core: EventLoop.Core? = nil) {
        do throws(RedisFailure) {
            try client.send([.get(Array(key.utf8))], urgency, on: core) { [self] result in
                guard urgency == .request else {
                    return work.async { [self] in received(name, key: key, urgency, result) }
                }
                // To wake another thread takes longer than to verify a small version.
                if Self.isSmall(result) { return received(name, key: key, urgency, result) }
                replies.async { [self] in received(name, key: key, urgency, result) }
            }
        } catch {
            end(name, urgency, .unavailable)
        }
    }

    /// Returns true for a reply that may be read on a loop.
    private static func isSmall(_ result: Result<[RESPValue], RedisFailure>) -> Bool {
        guard case .success(let values) = result else { return false }
        return values.first?.bytes.map { $0.count <= smallMax } ?? true
    }

    /// The bytes of a value that is read on a loop.
    private static let smallMax = 16 * 1024
    /// The bytes of a body that is unpacked and verified on a loop.
    private static let smallBodyMax = 256 * 1024

    private func received(
        _ name: SharedName, key: String, _ urgency: RedisUrgency, _ result: Result<[RESPValue], RedisFailure>
    ) {
        let values: [RESPValue]
        switch result {
        case .success(let replies): values = replies
        case .failure(let failure):
            let outcome: SharedLookUp = failure == .unavailable ? .unavailable : .late
            guard urgency == .request else { return end(name, urgency, outcome) }
            // The next client that names it gets it.
            state.withLock { _ = $0.late.insert(name) }
            get(name, key: key, .background)
            return end(name, urgency, outcome)
        }
        guard let bytes = values.first?.bytes else {
            if values.first == .null { return missed(name, urgency) }
            guard values.first?.error?.isForeignValue == true else { return end(name, urgency, .unavailable) }
            return refuse(name, key: key, urgency)
        }
        guard let value = SharedValue(bytes), value.isSealed == name.isSealed else {
            guard SharedValue.isNewer(bytes) else { return refuse(name, key: key, urgency) }
            // Nodes of that release can use it: only this one does without.
            forget(name)
            return end(name, urgency, .miss)
        }
        guard value.parts > 1 else { return take(value.content(), name, key: key, parts: 1, urgency) }
        getParts(of: value, name, key: key, urgency)
    }

    /// Asks for the further parts of a large version.
    ///
    /// Requests that wait for the version wait for them, too. The command is of the background, whose deadline is in seconds.
    private func getParts(of value: SharedValue, _ name: SharedName, key: String, _ urgency: RedisUrgency) {
        let keys = names.partKeys(of: key, parts: value.parts)
        do throws(RedisFailure) {
            try client.send([.getAll(keys.map { Array($0.utf8) })], .background) { [self] result in
                work.async { [self] in
                    guard case .success(let replies) = result else { return end(name, urgency, .late) }
                    // An error says nothing of the value.
                    guard let items = replies.first?.array else { return end(name, urgency, .unavailable) }
                    // The shared store may have lost a part alone.
                    guard !items.contains(.null) else { return missed(name, urgency) }
                    let parts = items.compactMap(\.bytes)
                    take(value.content(with: parts), name, key: key, parts: value.parts, urgency)
                }
            }
        } catch {
            end(name, urgency, .unavailable)
        }
    }

    /// Reads a version and adopts it, on another thread than a loop if its body is large.
    private func take(
        _ content: [UInt8]?, _ name: SharedName, key: String, parts: Int, _ urgency: RedisUrgency
    ) {
        guard let content, let packed = PackedRecord(content, named: name, keys: commonKeys) else {
            return refuse(name, key: key, parts: parts, urgency)
        }
        guard urgency == .request, packed.bodyBytes > Self.smallBodyMax else {
            return adopt(packed, name, key: key, parts: parts, urgency)
        }
        replies.async { [self] in adopt(packed, name, key: key, parts: parts, urgency) }
    }

    private func adopt(
        _ packed: PackedRecord, _ name: SharedName, key: String, parts: Int, _ urgency: RedisUrgency
    ) {
        guard let record = packed.unpacked() else { return refuse(name, key: key, parts: parts, urgency) }
        guard !isPurged(record) else {
            forget(name)
            return end(name, urgency, .miss)
        }
        let told = state.withLock { $0.index.takeHolders(of: name) }
        do throws(AdmissionRefusal) {
            let version = try store.sharing.adopt(record, told: told, now: SystemClock.unixSeconds)
            note(version, as: name)
            end(name, urgency, .hit, version)
        } catch {
            if let told { state.withLock { _ = $0.index.add(told) } }
            end(name, urgency, .refused)
        }
    }

    /// Ends a question whose value is not what its name says.
    private func refuse(_ name: SharedName, key: String, parts: Int? = nil, _ urgency: RedisUrgency) {
        removeCorrupt(name, key: key, parts: parts)
        end(name, urgency, .corrupt)
    }

    private func end(
        _ name: SharedName, _ urgency: RedisUrgency, _ result: SharedLookUp, _ version: Storage.Version? = nil
    ) {
        counters.withLock { counters in
            if urgency == .request {
                counters.count(result)
            } else {
                counters.fetches[result, default: 0] += 1
            }
        }
        guard urgency == .background else { return finish(name, version) }
        state.withLock { _ = $0.late.remove(name) }
    }

    // MARK: Versions that are not there

    private func missed(_ name: SharedName, _ urgency: RedisUrgency) {
        if forget(name) { announce([name], as: SharedNews.Entry.lost) }
        end(name, urgency, .miss)
    }

    /// Asks nobody for a version for a while; returns true if it was announced.
    @discardableResult
    private func forget(_ name: SharedName) -> Bool {
        let now = UInt64(SystemClock.monotonicNanoseconds)
        return state.withLock { state in
            state.questions.recordMissing(name, now: now)
            return state.index.remove(name)
        }
    }

    /// Removes a value that is not what its name says, so that a node that has the version writes it again.
    ///
    /// - Parameter parts: The number of its parts; nil if it does not say.
    private func removeCorrupt(_ name: SharedName, key: String, parts: Int?) {
        let bodyBytes = state.withLock { $0.index.news(of: name)?.bytes ?? 0 }
        let keys =
            parts.map { [key] + names.partKeys(of: key, parts: $0) }
            ?? names.keys(of: name, bodyBytes: bodyBytes)
        forget(name)
        try? client.send([.delete(keys.map { Array($0.utf8) })], .background) { [self] _ in
            announce([name], as: SharedNews.Entry.lost)
        }
        if corruptReminder.take(now: SystemClock.monotonicNanoseconds / 1_000_000) {
            report(
                .warning(
                    """
                    store.shared: a value is not what its name says; it was removed and not used. Somebody else writes \
                    there, or a value was damaged. This message comes at most once a minute
                    """))
        }
    }

    /// Tells the other nodes something about versions.
    func announce(_ versions: [SharedName], as field: [UInt8]) {
        for isSealed in [false, true] {
            let some = versions.filter { $0.isSealed == isSealed }
            guard !some.isEmpty, let stream = isSealed ? names.sealedNews : names.news else { continue }
            let entry = [(name: field, value: SharedNews.batch(names: some))]
            try? client.send(
                [.append(to: Array(stream.utf8), entry, lengthMax: Self.newsMax)], .background
            ) { _ in }
        }
    }
}
