internal import Synchronization

/// The rule by which clients share a resource: nobody has more than a part of what is left.
///
/// Holders come one after the other, and each finds less: with a part of an eighth, twelve greedy ones leave a quarter,
/// and the next one always finds something. No client has a fixed amount, so none is wasted. These are the dynamic
/// thresholds of Choudhury and Hahne ("Dynamic queue length thresholds for shared-memory packet switches", 1998).
package enum FairShare {
    /// The part for what clients can hold as long as they like: an eighth of what is left.
    ///
    /// Work that ends by itself uses `part` 1: a client may have as much as it leaves to all others.
    package static let part = 8

    /// Returns true if somebody who has `own` may take `amount` more while `free` is left.
    package static func permits(_ amount: Int, having own: Int, free: Int, part: Int = 1) -> Bool {
        guard amount <= free else { return false }
        // Rounded up, so that the last one goes to somebody who has none.
        return amount <= (free - 1) / part + 1 - own
    }
}

/// An amount of a shared resource that one party has; safe from any thread.
@available(macOS 15, iOS 18, *)
package final class FairHolding: Sendable {
    private let value = Atomic<Int>(0)

    package init() {}

    package var amount: Int { value.load(ordering: .relaxed) }

    package func add(_ amount: Int) { value.wrappingAdd(amount, ordering: .relaxed) }

    package func giveBack(_ amount: Int) { value.wrappingSubtract(amount, ordering: .relaxed) }
}
