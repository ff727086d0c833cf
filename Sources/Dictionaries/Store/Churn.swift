internal import Synchronization

/// The ledger of all chains behind its lock, and what can be known without taking it.
final class Churn: Sendable {
    private let ledger: Guarded<ChurnLedger>
    /// How many chains have an interval, and how many stopped offering; as long as none has, nobody need ask.
    private let slowed = Atomic<Int>(0)
    private let resting = Atomic<Int>(0)
    /// When digests that are too old were last looked for.
    private let tidied = Atomic<Int>(0)
    private static let tidySeconds = 3600

    init(policy: ChurnPolicy) {
        ledger = Guarded(ChurnLedger(policy: policy))
    }

    /// Changes the ledger, or looks something up in it.
    func withLedger<Result>(_ body: (inout ChurnLedger) -> Result) -> Result {
        ledger.withLock { ledger in
            let result = body(&ledger)
            slowed.store(ledger.slowedCount, ordering: .relaxed)
            resting.store(ledger.restingCount, ordering: .relaxed)
            return result
        }
    }

    /// Whether the chain stopped offering.
    func isResting(_ chain: ChainKey, now: () -> Int) -> Bool {
        guard resting.load(ordering: .relaxed) > 0 else { return false }
        let now = now()
        return ledger.withLock { $0.isResting(chain, now: now) }
    }

    /// Takes the chain's turn to admit a new body; false: not yet.
    func claim(_ chain: ChainKey, for digest: Digest?, now: () -> Int) -> Bool {
        guard slowed.load(ordering: .relaxed) > 0 else { return true }
        let now = now()
        return ledger.withLock { $0.claim(chain, for: digest, now: now) }
    }

    /// What is to be done every second or so; `index` is asked for once an hour.
    func sweep(now: Int, index: () -> DictionaryIndex) {
        withLedger { $0.wake(now: now) }
        let last = tidied.load(ordering: .relaxed)
        guard now < last || now - last >= Self.tidySeconds else { return }
        tidied.store(now, ordering: .relaxed)
        let index = index()
        withLedger { $0.tidy(now: now) { index.chain($0) != nil } }
    }
}
