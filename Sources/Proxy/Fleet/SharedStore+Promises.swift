internal import Dispatch
internal import Primitives
internal import Redis
internal import Storage

// MARK: - Ids that were given out before their body was complete

/// A client may take such an id to any node: each node announces the tags of those that it gave out.
///
/// A tag goes along with the announcement of its version. Where that has gone out before, as for a body that several
/// clients are given, tags wait a moment for others. So ordinary traffic, which has none, costs no command.
extension SharedStore {
    /// The longest time that a tag waits, and so the number of additional commands per second is bounded.
    private static let promisePauseMilliseconds = 250
    /// The time to the next try while the server is away.
    private static let retryMilliseconds = 5_000

    /// Has the other nodes told of an id.
    func promised(_ promises: some Collection<PromisedIDs.Promise>) {
        guard commonKeys != nil, waitingPromises.withLock({ $0.add(promises) }) else { return }
        announcePromises(after: Self.promisePauseMilliseconds)
    }

    private func announcePromises(after milliseconds: Int) {
        work.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [weak self] in
            guard let self else { return }
            while !waitingPromises.withLock({ $0.isEmpty }) {
                guard announcePromises() else { return announcePromises(after: Self.retryMilliseconds) }
            }
            // One that came since then is scheduled again.
            let isMore = waitingPromises.withLock { waiting in
                waiting.endSchedule()
                return waiting.add([PromisedIDs.Promise]())
            }
            if isMore { announcePromises(after: Self.promisePauseMilliseconds) }
        }
    }

    /// Returns the field of waiting tags for an entry about sealed versions, with the tags; nil without any.
    func takePromises() -> (field: (name: [UInt8], value: [UInt8]), promises: [PromisedIDs.Promise])? {
        let promises = waitingPromises.withLock { $0.take() }
        guard !promises.isEmpty else { return nil }
        return ((SharedNews.Entry.promises, SharedNews.batch(promises: promises)), promises)
    }

    /// Announces some of the waiting tags; returns false if nothing was sent.
    private func announcePromises() -> Bool {
        guard let stream = names.sealedNews, let taken = takePromises() else { return false }
        let entry = RedisCommand.append(to: Array(stream.utf8), [taken.field], lengthMax: Self.newsMax)
        do throws(RedisFailure) {
            try client.send([entry], .background) { [weak self] result in
                guard let self, (try? result.get())?.allSatisfy({ $0.error == nil }) != true else { return }
                // Given back at once, they would be sent again and again by the loop that sent them.
                work.asyncAfter(deadline: .now() + .milliseconds(Self.retryMilliseconds)) { [weak self] in
                    self?.promised(taken.promises)
                }
            }
            return true
        } catch {
            waitingPromises.withLock { $0.putBack(taken.promises) }
            return false
        }
    }

    /// Returns the announcement of an id that some node has promised.
    func promise(_ tag: PromisedTag) -> PromisedIDs.Promise? { state.withLock { $0.promises.promise(tag) } }

    /// Announces those ids of a version again that no announcement names, or all; returns true if there are some.
    @discardableResult
    func repeatPromises(of version: Storage.Version, all: Bool = false) -> Bool {
        let promises = store.sharing.promises(of: version)
        guard !promises.isEmpty else { return false }
        let some = state.withLock { state in
            promises.filter { all || !state.promises.contains($0.tag) }
        }
        if !some.isEmpty { promised(some) }
        return !some.isEmpty
    }
}
